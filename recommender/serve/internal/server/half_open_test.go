package server_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	poolsv1 "sluice.dev/api/pools/v1"
)

// watchAndReadNothing asks for a watch on a connection of its own, and never reads from it: neither answers nor pings.
func watchAndReadNothing(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	var out, fields bytes.Buffer
	out.WriteString(http2.ClientPreface)
	framer, encoder := http2.NewFramer(&out, nil), hpack.NewEncoder(&fields)
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/sluice.pools.v1.PoolSizeService/WatchPoolSizes"}, {":authority", "h"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		must(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	request, err := proto.Marshal(&poolsv1.WatchPoolSizesRequest{})
	must(t, err)
	message := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request)))
	must(t, framer.WriteSettings())
	must(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields.Bytes(), EndHeaders: true}))
	must(t, framer.WriteData(1, true, append(message, request...)))
	_, err = conn.Write(out.Bytes())
	must(t, err)
	return conn
}

func held() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}

// TestWatchersThatReadNothing: SLUICE_HALF_OPEN watchers take little memory each, and no other call waits for them. The server ends
// their watches: at once after the connections, or, where SLUICE_HALF_OPEN is set, by its pings (80 s).
func TestWatchersThatReadNothing(t *testing.T) {
	const usual, each = 200, 100 << 10
	count := int(setting("SLUICE_HALF_OPEN", usual))
	r, d, _ := hostileWorld(t)
	before := held()
	var open []net.Conn
	for range count {
		open = append(open, watchAndReadNothing(t, r.address))
	}
	t.Cleanup(func() {
		for _, conn := range open {
			conn.Close()
		}
	})
	eventually(t, "all watch", func() bool { return r.service.Watchers() == int64(count) })
	d.Publish()
	_, err := r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	must(t, err)
	grown := int64(held()) - int64(before)
	t.Logf("%d bytes a watcher", grown/int64(count))
	if grown > int64(count)*each {
		t.Errorf("%d bytes for %d watchers", grown, count)
	}
	if count == usual {
		for _, conn := range open {
			conn.Close()
		}
	}
	for end := time.Now().Add(5 * time.Minute); r.service.Watchers() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d watchers are left", r.service.Watchers())
		}
	}
}
