// Package health serves the health and the metrics of a process on a listener that only reads: /livez, /readyz, /metrics, and
// grpc.health.v1 by HTTP/2 without TLS.
package health

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/serve/internal/access"
)

// Variables of the listener.
const (
	addressVariable = "SLUICE_HEALTH"
	exposeVariable  = "SLUICE_HEALTH_EXPOSE"
)

// pageTime bounds the writing of a page.
const pageTime = 10 * time.Second

// Address returns SLUICE_HEALTH; empty: there is no listener. It returns an error for an address that other hosts reach, unless
// SLUICE_HEALTH_EXPOSE is true.
func Address(lookup func(string) string) (string, error) {
	address, expose := lookup(addressVariable), lookup(exposeVariable)
	if expose != "" && expose != "true" && expose != "false" {
		return "", fmt.Errorf("%s %q is not legal; legal: true, false", exposeVariable, expose)
	}
	if address == "" {
		return "", nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", fmt.Errorf("%s %q is not legal; legal: HOST:PORT", addressVariable, address)
	}
	if expose != "true" && !access.Loopback(address) {
		return "", fmt.Errorf("%s %q is not legal; legal: a loopback address, as 127.0.0.1:9464, because the pages have no authentication; %s=true makes every address legal",
			addressVariable, address, exposeVariable)
	}
	return address, nil
}

// Causes returns the reasons why the process is not live or not ready; none: it is.
type Causes func() []string

// All returns the causes of all of them.
func All(of ...Causes) Causes {
	return func() (causes []string) {
		for _, one := range of {
			causes = append(causes, one()...)
		}
		return causes
	}
}

// Pages are the contents of the listener.
type Pages struct {
	Live, Ready Causes
	Metrics     http.Handler
	// GRPC is the process's own health service; nil: none.
	GRPC healthv1.HealthServer
}

// Serve listens on address until stop is called. An empty address: there is no listener.
func (p Pages) Serve(address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s=%s: %w", addressVariable, address, errors.Unwrap(err))
	}
	server := &http.Server{
		Handler: onLoopback(listener.Addr(), p.handler()), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go server.Serve(listener) //nolint:errcheck // it ends when the server is closed
	return func() { server.Close() }, nil
}

func (p Pages) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", page(p.Live))
	mux.HandleFunc("GET /readyz", page(p.Ready))
	mux.Handle("GET /metrics", p.Metrics)
	calls := grpc.NewServer()
	if p.GRPC != nil {
		healthv1.RegisterHealthServer(calls, p.GRPC)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			calls.ServeHTTP(w, r)
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTime)) // every connection of net/http has one
		mux.ServeHTTP(w, r)
	})
}

// page is 200 "ok", or 503 with a line for each cause.
func page(causes Causes) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		text := "ok"
		if found := causes(); len(found) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			text = strings.Join(found, "\n")
		}
		_, _ = io.WriteString(w, text+"\n") // the caller is gone
	}
}
