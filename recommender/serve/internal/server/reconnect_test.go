package server_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

// descriptors is the number of those that the process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	must(t, err)
	return len(open)
}

// drop ends a connection with a reset: the server hears of it at its next read.
func drop(t *testing.T, conn net.Conn) {
	t.Helper()
	must(t, conn.(*net.TCPConn).SetLinger(0))
	must(t, conn.Close())
}

// awaitData reads frames up to the first of an answer.
func awaitData(conn net.Conn) error {
	framer := http2.NewFramer(io.Discard, conn)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		if _, ok := frame.(*http2.DataFrame); ok {
			return nil
		}
	}
}

// come is one connection of a client in a storm. Some watch pools, some endpoints, and some leave within their greeting.
func (r *running) come(t *testing.T, client int) {
	if client%8 == 7 {
		conn, err := net.Dial("tcp", r.address)
		must(t, err)
		_, err = io.WriteString(conn, http2.ClientPreface[:client%len(http2.ClientPreface)])
		must(t, err)
		drop(t, conn)
		return
	}
	var conn net.Conn
	if client%2 == 0 {
		conn = rawCall(t, r.address, watchSizes, message(t, &poolsv1.WatchPoolSizesRequest{}), true)
	} else {
		conn = rawCall(t, r.address, deltaOfXDS, message(t, &discovery.DeltaDiscoveryRequest{
			Node: &core.Node{Id: fmt.Sprintf("a~a-%d", client)}, TypeUrl: assignments, ResourceNamesSubscribe: []string{"b"},
		}), false)
	}
	if client%3 > 0 {
		if err := awaitData(conn); err != nil {
			t.Errorf("client %d: %v", client, err)
		}
	}
	drop(t, conn)
}

// TestAStormOfReconnectsLeavesNothing: SLUICE_RECONNECTS clients connect, watch and drop their connection, all at once, and again.
// One that behaves has each change meanwhile.
func TestAStormOfReconnectsLeavesNothing(t *testing.T) {
	const rounds = 5
	clients := int(setting("SLUICE_RECONNECTS", 200))
	r, d, lines := hostileWorld(t)
	good := r.watch(t, &ask{}).awaitSnapshot()
	goroutines, open, before := runtime.NumGoroutine(), descriptors(t), held()
	for round := range rounds {
		var storm sync.WaitGroup
		for client := range clients {
			storm.Go(func() { r.come(t, client) })
		}
		revision := uint64(round + 2)
		d.Publish(journaltest.Apply(cart, revision, 8))
		good.at(cart, revision)
		_, err := r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
		must(t, err)
		storm.Wait()
	}
	eventually(t, "no watch is left", func() bool { return r.service.Watchers() == 1 })
	eventually(t, "goroutines are as before", func() bool { return runtime.NumGoroutine() < goroutines+20 })
	eventually(t, "descriptors are as before", func() bool { return descriptors(t) < open+20 })
	eventually(t, "the heap is as before", func() bool { return held() < before+32<<20 })
	t.Logf("%d connections; %d bytes, %d goroutines, %d descriptors more", rounds*clients,
		int64(held())-int64(before), runtime.NumGoroutine()-goroutines, descriptors(t)-open)
	if n := lines.Load(); n > 100 {
		t.Errorf("%d lines of log", n)
	}
}
