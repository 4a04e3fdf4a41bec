package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// shop has the pools of the demo and its interface to read and resize them; it records all requests.
type shop struct {
	mu    sync.Mutex
	sizes map[string]uint32
	puts  []string
}

func startShop(t *testing.T) (*shop, string) {
	s := &shop{sizes: map[string]uint32{"cart.threads": 64, "catalogue.connections": 12}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pools/{name}", s.get)
	mux.HandleFunc("PUT /pools/{name}", s.put)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return s, server.URL
}

func (s *shop) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer(w, r.PathValue("name"))
}

func (s *shop) put(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("name")
	var body struct{ Size uint32 }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Size < 1 || body.Size > 256 {
		http.Error(w, `{"error": "size: want 1..256"}`, http.StatusBadRequest)
		return
	}
	s.puts = append(s.puts, fmt.Sprintf("%s=%d", name, body.Size))
	s.sizes[name] = body.Size
	s.answer(w, name)
}

func (s *shop) answer(w http.ResponseWriter, name string) {
	size, ok := s.sizes[name]
	if !ok {
		http.Error(w, fmt.Sprintf(`{"error": "pool: %q: unknown"}`, name), http.StatusNotFound)
		return
	}
	fmt.Fprintf(w, `{"name": %q, "service": "cart", "side": "server", "peer": "", "size": %d, "min": 1, "max": 256, "in_use": 3, "queued": 0}`, name, size)
}

func (s *shop) size(name string) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sizes[name]
}

func (s *shop) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.puts)
}
