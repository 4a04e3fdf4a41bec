package server_test

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

const listSizes = "/sluice.pools.v1.PoolSizeService/ListPoolSizes"

// largest is the prefix of a message of 4 MB, the most that the server reads.
var largest = []byte{0, 0, 0x40, 0, 0}

// sendSlowly sends a message but for its last byte, as the server's windows allow. ended: the server ended the call before.
func sendSlowly(conn net.Conn, bytes int) (ended bool) {
	framer := http2.NewFramer(conn, conn)
	sent := 0
	stream, all, part := 65535-len(largest), 65535-len(largest), make([]byte, 1<<14)
	for sent < bytes-1 {
		if n := min(stream, all, bytes-1-sent, len(part)); n > 0 {
			if framer.WriteData(1, false, part[:n]) != nil {
				return true
			}
			sent, stream, all = sent+n, stream-n, all-n
			continue
		}
		frame, err := framer.ReadFrame()
		if err != nil {
			return true
		}
		switch frame := frame.(type) {
		case *http2.WindowUpdateFrame:
			if frame.StreamID == 0 {
				all += int(frame.Increment)
			} else {
				stream += int(frame.Increment)
			}
		case *http2.MetaHeadersFrame, *http2.HeadersFrame, *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return true
		}
	}
	return false
}

// closed is a server that asks callers for a token.
func closed(t *testing.T) *running {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	must(t, os.WriteFile(file, []byte(readToken+" viewer read\n"), 0o600))
	lookup := func(name string) string { return map[string]string{"SLUICE_TOKENS": file}[name] }
	return start(t, journaltest.New(t, 1), options{lookup: lookup}).ready(t)
}

// TestACallerWithoutATokenMakesTheServerHoldLittle: SLUICE_UNKNOWN_CALLERS connections send 4 MB without a token, but for the last
// byte.
func TestACallerWithoutATokenMakesTheServerHoldLittle(t *testing.T) {
	const each = 100 << 10
	count := int(setting("SLUICE_UNKNOWN_CALLERS", 40))
	r := closed(t)
	before := held()
	var callers sync.WaitGroup
	for range count {
		conn := rawCall(t, r.address, listSizes, largest, false)
		t.Cleanup(func() { conn.Close() })
		callers.Go(func() {
			if !sendSlowly(conn, 4<<20) {
				t.Error("the server read all of it")
			}
		})
	}
	callers.Wait()
	grown := int64(held()) - int64(before)
	t.Logf("%d bytes a caller", grown/int64(count))
	if grown > int64(count)*each+4<<20 {
		t.Errorf("%d bytes for %d callers", grown, count)
	}
	_, err := r.client.ListPoolSizes(with(readToken), &poolsv1.ListPoolSizesRequest{})
	must(t, err)
}

// TestASlowCheckOfHealthEnds: a check needs no token. With SLUICE_UNKNOWN_CALLERS, it waits for the end (20 s).
func TestASlowCheckOfHealthEnds(t *testing.T) {
	count := int(setting("SLUICE_UNKNOWN_CALLERS", 0))
	if count == 0 {
		t.Skip("SLUICE_UNKNOWN_CALLERS is not set")
	}
	r := closed(t)
	before := held()
	for range count {
		conn := rawCall(t, r.address, healthChecks, largest, false)
		t.Cleanup(func() { conn.Close() })
		sendSlowly(conn, 4<<20)
	}
	t.Logf("%d bytes a check", (int64(held())-int64(before))/int64(count))
	for end := time.Now().Add(5 * time.Minute); int64(held())-int64(before) > 4<<20+int64(count)*100<<10; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatal("the server holds what it read")
		}
	}
}
