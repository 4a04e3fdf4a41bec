package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// window of each stream and connection: more than will ever come.
const window = 1 << 30

// unavailable is gRPC's code for: try again.
const unavailable = 14

// link is an HTTP/2 connection with the watches on it, without more of gRPC than they need: what a watcher costs here is
// taken from the server's share of the machine.
type link struct {
	address  string
	secure   *tls.Config
	watchers []*watcher
	conn     net.Conn
	framer   *http2.Framer
}

// open connects and asks for every watch, each from where it was.
func (l *link) open() (err error) {
	if l.conn, err = net.Dial("tcp", l.address); err != nil {
		return err
	}
	if l.secure != nil {
		l.conn = tls.Client(l.conn, l.secure)
	}
	var out, fields bytes.Buffer
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	check(framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}))
	check(framer.WriteWindowUpdate(0, window))
	encoder := hpack.NewEncoder(&fields)
	for i, w := range l.watchers {
		fields.Reset()
		for _, each := range [][2]string{
			{":method", "POST"}, {":scheme", "http"}, {":path", "/sluice.pools.v1.PoolSizeService/WatchPoolSizes"},
			{":authority", l.address}, {"content-type", "application/grpc"}, {"te", "trailers"},
		} {
			check(encoder.WriteField(hpack.HeaderField{Name: each[0], Value: each[1]}))
		}
		stream := uint32(2*i + 1)
		check(framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: fields.Bytes(), EndHeaders: true}))
		check(framer.WriteData(stream, true, w.request()))
	}
	if _, err = l.conn.Write(out.Bytes()); err != nil {
		l.conn.Close()
		return err
	}
	l.framer = http2.NewFramer(l.conn, bufio.NewReaderSize(l.conn, 2<<10))
	l.framer.SetReuseFrames()
	l.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return nil
}

// waits tells whether a watch of it waits for anything.
func (l *link) waits() bool {
	return slices.ContainsFunc(l.watchers, func(w *watcher) bool { return w.phase.Load() != nil })
}

// read takes what comes until the connection, or a watch on it, ends.
func (l *link) read() error {
	defer l.conn.Close()
	for {
		frame, err := l.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				err = l.framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				err = l.framer.WritePing(true, f.Data)
			}
		case *http2.DataFrame:
			l.watchers[(f.StreamID-1)/2].take(f.Data())
		case *http2.MetaHeadersFrame:
			if f.StreamEnded() {
				return ended(f)
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			err = errors.New("the server ends it")
		}
		if err != nil {
			return err
		}
	}
}

// ended is why a watch is over; what a server that stops does not say ends the program.
func ended(trailers *http2.MetaHeadersFrame) error {
	status, message := 0, ""
	for _, field := range trailers.Fields {
		switch field.Name {
		case "grpc-status":
			status, _ = strconv.Atoi(field.Value)
		case "grpc-message":
			message = field.Value
		}
	}
	if status != unavailable {
		fail(fmt.Errorf("a watch ended with %d: %s", status, message))
	}
	return errors.New(message)
}

// again opens until it is open: all come back within a second of a restart, which is the worst that they can do.
func (l *link) again() {
	for pause := time.Second; ; pause = 200 * time.Millisecond {
		time.Sleep(time.Duration(rand.Int64N(int64(pause))))
		for _, w := range l.watchers {
			w.partial = nil
		}
		if l.open() == nil {
			return
		}
	}
}
