// Command jolokia_targets answers as the Jolokia agents of many Tomcats would, each at /N/jolokia/, with one connector of 64
// threads. It prints its address; GET /asked counts what was asked.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
)

const bean = `Tomcat:name="http-nio-8080",type=ThreadPool`

type targets struct {
	mu    sync.Mutex
	pools map[string]map[string]int64
	asked map[string]int
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	t := &targets{pools: map[string]map[string]int64{}, asked: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{target}/jolokia/", t.serve)
	mux.HandleFunc("GET /asked", func(w http.ResponseWriter, _ *http.Request) {
		t.mu.Lock()
		defer t.mu.Unlock()
		sizes := map[int64]int{}
		for _, pool := range t.pools {
			sizes[pool["maxThreads"]]++
		}
		json.NewEncoder(w).Encode(map[string]any{"asked": t.asked, "sizes": sizes})
	})
	fmt.Println(listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}

func (t *targets) serve(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Type      string
		Attribute any
		Value     int64
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[request.Type]++
	pool := t.pools[r.PathValue("target")]
	if pool == nil {
		pool = map[string]int64{"maxThreads": 64, "minSpareThreads": 10, "currentThreadCount": 10}
		t.pools[r.PathValue("target")] = pool
	}
	var value any
	switch request.Type {
	case "search":
		value = []string{bean}
	case "read":
		value = pool
	case "write":
		pool[request.Attribute.(string)] = request.Value
	}
	json.NewEncoder(w).Encode(map[string]any{"status": http.StatusOK, "value": value})
}
