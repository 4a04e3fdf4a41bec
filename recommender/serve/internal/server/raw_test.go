package server_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"
)

const (
	watchSizes   = "/sluice.pools.v1.PoolSizeService/WatchPoolSizes"
	deltaOfXDS   = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
	healthChecks = "/grpc.health.v1.Health/Check"
)

// message is a message of gRPC, with its prefix.
func message(t *testing.T, content proto.Message) []byte {
	t.Helper()
	encoded, err := proto.Marshal(content)
	must(t, err)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(encoded))), encoded...)
}

// rawCall begins a call on a connection of its own. The caller closes the connection, and reads and writes its frames, or does not.
func rawCall(t *testing.T, address, method string, data []byte, ends bool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	var out, fields bytes.Buffer
	out.WriteString(http2.ClientPreface)
	framer, encoder := http2.NewFramer(&out, nil), hpack.NewEncoder(&fields)
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "h"}, {"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		must(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	must(t, framer.WriteSettings())
	must(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields.Bytes(), EndHeaders: true}))
	must(t, framer.WriteData(1, ends, data))
	_, err = conn.Write(out.Bytes())
	must(t, err)
	return conn
}
