package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/redis/go-redis/v9"
)

// drain is how long a client that was replaced may still be in use.
const drain = 2 * limit

// Of clients 0 is what the library has by default. It is named in `defaults`, with the library's name for it.
var defaults = map[string]int{
	// database/sql: SetMaxOpenConns has no limit by default; here it is PostgreSQL's, less what the other service takes.
	"db_max_open": 150,
	// database/sql: SetMaxIdleConns.
	"db_max_idle": 2,
	// net/http: Transport.MaxIdleConnsPerHost.
	"http_max_idle": http.DefaultMaxIdleConnsPerHost,
	// gomemcache: Client.MaxIdleConns.
	"memcache_max_idle": memcache.DefaultMaxIdleConns,
	// go-redis: Options.PoolSize, 10 for each core.
	"redis_pool": 10,
	// Go's runtime: GOGC.
	"gogc": 100,
}

type settings struct {
	mu  sync.Mutex
	now map[string]int
	set map[string]func(int)
}

// settings are served as {"value": n}.
func (s *shop) settings() http.Handler {
	h := &settings{now: map[string]int{}}
	h.set = map[string]func(int){
		"db_max_open": func(n int) {
			s.db.SetMaxOpenConns(n)
			s.db.SetMaxIdleConns(h.now["db_max_idle"]) // fewer open ones leave fewer idle ones, for good
		},
		"db_max_idle":       s.db.SetMaxIdleConns,
		"http_max_idle":     func(n int) { later(s.http.Swap(httpClient(n)).CloseIdleConnections) },
		"memcache_max_idle": func(n int) { old := s.memcache.Swap(memcacheClient(s.memcached, n)); later(func() { old.Close() }) },
		"redis_pool":        func(n int) { old := s.redis.Swap(redisClient(s.addresses.redis, n)); later(func() { old.Close() }) },
		"gogc":              func(n int) { debug.SetGCPercent(n) },
	}
	maps.Copy(h.now, defaults)
	for name, value := range defaults {
		h.set[name](value)
	}
	return h
}

func (h *settings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := r.URL.Path
	set, ok := h.set[name]
	if !ok {
		http.Error(w, "no such setting", http.StatusNotFound)
		return
	}
	if r.Method == http.MethodPut {
		var body struct{ Value int }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Value < 1 {
			http.Error(w, "value: want a whole number from 1", http.StatusBadRequest)
			return
		}
		set(body.Value)
		h.now[name] = body.Value
	}
	json.NewEncoder(w).Encode(map[string]int{"value": h.now[name]})
}

func later(do func()) { time.AfterFunc(drain, do) }

func redisClient(address string, size int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, PoolSize: size, ReadTimeout: limit, PoolTimeout: limit})
}

// Its own time limit, 100 ms, would be a second retry policy under load.
func memcacheClient(address string, idle int) *memcache.Client {
	client := memcache.New(address)
	client.Timeout, client.MaxIdleConns = limit, idle
	return client
}

func httpClient(idle int) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idle
	return &http.Client{Transport: transport}
}
