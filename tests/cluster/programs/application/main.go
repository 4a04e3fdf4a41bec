// An application of the tests: a pool that an actuator resizes (/rows), and work for one core (/work, all of a core for 5 s).
// Arguments: the address to listen on and the file with the token of the pool.
package main

import (
	"log"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"sluice.dev/handlers"
)

const (
	first = 64
	work  = 5 * time.Second
)

type pool struct{ limit atomic.Int64 }

func (p *pool) Size() (int, int) { return int(p.limit.Load()), 0 }

func (p *pool) Resize(limit int) { p.limit.Store(int64(limit)) }

func main() {
	rows := &pool{}
	rows.limit.Store(first)
	http.HandleFunc("/work", func(http.ResponseWriter, *http.Request) {
		for end := time.Now().Add(work); time.Now().Before(end); {
		}
	})
	http.Handle("/", handlers.Handler(os.Args[2], map[string]handlers.Pool{"rows": rows}))
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
