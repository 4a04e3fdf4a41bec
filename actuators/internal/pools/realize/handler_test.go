package realize_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/tests/realizetest"
	"sluice.dev/handlers"
)

// used is a pool that reports its use.
type used struct {
	handlers.Pool
	busy, waiting atomic.Int64
}

func (u *used) Use() (busy, waiting int) { return int(u.busy.Load()), int(u.waiting.Load()) }

func (u *used) set(use pool.Use) {
	u.busy.Store(number(use.Busy))
	u.waiting.Store(number(use.Waiting))
}

// number is -1 where there is none.
func number(n *uint32) int64 {
	if n == nil {
		return -1
	}
	return int64(*n)
}

// The Go handler, as in a program, on a pool that anybody may set.
func TestHandlerContract(t *testing.T) {
	realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
		var limit atomic.Int64
		limit.Store(64)
		rows := &used{Pool: handlers.Setter(
			func() (int, int) { return int(limit.Load()), 0 },
			func(size int) { limit.Store(int64(size)) })}
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("0123456789abcdef"), 0o600); err != nil {
			t.Fatal(err)
		}
		handler, done := handlers.Handler(token, map[string]handlers.Pool{"rows": rows}), make(chan struct{})
		var stalled atomic.Bool
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if stalled.Load() {
				<-done
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		t.Cleanup(func() { close(done) })
		config := realize.DefaultHandler()
		config.URL, config.TokenFile = server.URL+"/rows", token
		return realizetest.Fixture{
			Realizer: opened(t, &config),
			Size:     func() uint32 { return uint32(limit.Load()) },
			SetSize: func(size uint32) {
				if limit.Store(int64(size)); size == 0 {
					limit.Store(-1) // 0 is what database/sql says where there is no limit
				}
			},
			SetUse: rows.set, ReportsWaiting: true,
			Unbound: func() { limit.Store(0) },
			Break:   func() { os.Remove(token) },
			Stall:   func() { stalled.Store(true) },
		}
	})
}
