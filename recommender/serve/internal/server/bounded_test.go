package server_test

import (
	"context"
	"net"
	"testing"
	"time"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

// closedByServer is whether the other side has closed a connection on which it sends something first.
func closedByServer(t *testing.T, conn net.Conn) bool {
	t.Helper()
	must(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := conn.Read(make([]byte, 1))
	return err != nil
}

func TestBeyondSoManyConnectionsTheNextIsClosedAtOnce(t *testing.T) {
	r := start(t, journaltest.New(t, 1), options{connections: 3}).ready(t)
	_, err := r.client.ListPoolSizes(context.Background(), &poolsv1.ListPoolSizesRequest{}) // by the first
	must(t, err)
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", r.address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	second, third := dial(), dial()
	for _, conn := range []net.Conn{second, third} {
		if closedByServer(t, conn) {
			t.Fatal("refused though there is room")
		}
	}
	if !closedByServer(t, dial()) {
		t.Error("a fourth was accepted")
	}
	if open, refused := r.counts(); open != 3 || refused != 1 {
		t.Error(open, refused)
	}
	_, err = r.client.ListPoolSizes(context.Background(), &poolsv1.ListPoolSizesRequest{})
	must(t, err)
	must(t, third.Close())
	eventually(t, "room for another", func() bool { open, _ := r.counts(); return open == 2 })
	if closedByServer(t, dial()) {
		t.Error("refused though one has ended")
	}
}
