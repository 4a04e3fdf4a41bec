// Package handlers lets an actuator read and set the size of a running Go program's pools: GET and PUT /NAME.
//
//	handlers.Serve("127.0.0.1:8099", "/run/secrets/pools", map[string]handlers.Pool{"rows": handlers.SQL(db)})
package handlers

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Pool is a pool that can be resized at runtime.
type Pool interface {
	// Size returns the limit, 0 for none, and the number of threads or connections that exist now.
	Size() (limit, open int)
	// Resize sets the limit, at least 1.
	Resize(limit int)
}

// User is a Pool that also reports its use.
type User interface {
	// Use returns the threads or connections in use and the callers that wait for one; below 0 where it does not know.
	Use() (busy, waiting int)
}

const (
	maxSize       = 65535
	maxBody       = 1 << 10
	shortestToken = 16
	timeout       = 10 * time.Second
)

type handler struct {
	tokenFile string
	pools     map[string]Pool
}

// Serve serves Handler in a goroutine of its own, and returns the server. Its error: tokenFile has no token of 16 characters or
// more, or it cannot listen at the address.
func Serve(address, tokenFile string, pools map[string]Pool) (*http.Server, error) {
	if _, err := readToken(tokenFile); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: Handler(tokenFile, pools), ReadHeaderTimeout: timeout, ReadTimeout: timeout}
	go server.Serve(listener)
	return server, nil
}

// Handler serves {"size": limit, "open": n} of each pool under its name; for a User also "busy" and "waiting", where it knows
// them. A request needs the bearer token that tokenFile has at that time, of 16 characters or more. PUT {"size": n} resizes
// the pool; the response has the new figures.
func Handler(tokenFile string, pools map[string]Pool) http.Handler { return &handler{tokenFile, pools} }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(status int, fields map[string]any) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(fields)
	}
	if err := h.authorize(r); err != nil {
		answer(http.StatusUnauthorized, map[string]any{"error": err.Error()})
		return
	}
	pool, ok := h.pools[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		answer(http.StatusNotFound, map[string]any{"error": "no such pool"})
		return
	}
	switch r.Method {
	case http.MethodGet:
	case http.MethodPut:
		var body struct{ Size int }
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body)
		if err != nil || body.Size < 1 || body.Size > maxSize {
			answer(http.StatusBadRequest, map[string]any{"error": "size: want 1 to 65535"})
			return
		}
		pool.Resize(body.Size)
	default:
		answer(http.StatusMethodNotAllowed, map[string]any{"error": "want GET or PUT"})
		return
	}
	answer(http.StatusOK, now(pool))
}

func now(pool Pool) map[string]any {
	limit, open := pool.Size()
	fields := map[string]any{"size": limit, "open": open}
	if user, ok := pool.(User); ok {
		busy, waiting := user.Use()
		for name, n := range map[string]int{"busy": busy, "waiting": waiting} {
			if n >= 0 {
				fields[name] = n
			}
		}
	}
	return fields
}

// NotSluice returns false for requests of an actuator, which are no load of the program. A server makes no span of them with
//
//	otelhttp.NewHandler(mux, "server", otelhttp.WithFilter(handlers.NotSluice))
func NotSluice(r *http.Request) bool { return r.Header.Get("Sluice-Request") == "" }

func (h *handler) authorize(r *http.Request) error {
	token, err := readToken(h.tokenFile)
	if err == nil && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
		err = errors.New("want Authorization: Bearer TOKEN, with the token of this program's token_file")
	}
	return err
}

func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", errors.Unwrap(err)) // without its path, which a request must not learn
	}
	token := strings.TrimSpace(string(text))
	if len(token) < shortestToken {
		return "", fmt.Errorf("token_file: want %d characters or more, got %d", shortestToken, len(token))
	}
	return token, nil
}
