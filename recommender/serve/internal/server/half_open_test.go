package server_test

import (
	"net"
	"runtime"
	"testing"
	"time"

	poolsv1 "sluice.dev/api/pools/v1"
)

// watchAndReadNothing asks for a watch on a connection of its own, and never reads from it: neither answers nor pings.
func watchAndReadNothing(t *testing.T, address string) net.Conn {
	t.Helper()
	return rawCall(t, address, watchSizes, message(t, &poolsv1.WatchPoolSizesRequest{}), true)
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
