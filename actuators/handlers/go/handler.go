// Package handlers lets an actuator read and set the size of a running Go program's pools: GET and PUT /NAME.
//
//	http.Handle("/pools/", http.StripPrefix("/pools", handlers.New("/run/secrets/pools", map[string]handlers.Pool{"rows": handlers.SQL(db)})))
package handlers

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"os"
	"strings"
)

// Pool is what can be resized while it runs.
type Pool interface {
	// Size returns the limit, 0 for none, and how many threads or connections there are now.
	Size() (limit, open int)
	// Resize sets the limit, at least 1.
	Resize(limit int)
}

const (
	maxSize     = 65535
	maxBody     = 1 << 10
	shortestKey = 16
)

type handler struct {
	tokenFile string
	pools     map[string]Pool
}

// New serves {"size": limit, "open": n} of each pool under its name, to who sends the token that tokenFile has now, of 16
// characters or more. A PUT of {"size": n} resizes, and answers what is then.
func New(tokenFile string, pools map[string]Pool) http.Handler { return &handler{tokenFile, pools} }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(status int, fields map[string]any) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(fields)
	}
	if !h.knows(r) {
		answer(http.StatusUnauthorized, map[string]any{"error": "want Authorization: Bearer TOKEN"})
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
	limit, open := pool.Size()
	answer(http.StatusOK, map[string]any{"size": limit, "open": open})
}

func (h *handler) knows(r *http.Request) bool {
	text, err := os.ReadFile(h.tokenFile)
	token := strings.TrimSpace(string(text))
	said := r.Header.Get("Authorization")
	return err == nil && len(token) >= shortestKey && subtle.ConstantTimeCompare([]byte(said), []byte("Bearer "+token)) == 1
}
