package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sluice.dev/actuators/internal/membership"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/scaling"
	"sluice.dev/actuators/internal/subsets"
)

// page is /status.
type page struct {
	Process
	Recommender recommender     `json:"recommender"`
	Reports     reconcile.Stats `json:"reports"`
	Targets     []Target        `json:"targets"`
	// Scaling has the state of each scaling source.
	Scaling []scaling.Stats `json:"scaling,omitempty"`
	// Containers has the state of each service whose containers are reported.
	Containers []membership.Stats `json:"containers,omitempty"`
	// Subsets are those that this process writes.
	Subsets []subsets.Status `json:"subsets,omitempty"`
}

type recommender struct {
	Address     string     `json:"address"`
	Reachable   bool       `json:"reachable"`
	LastSuccess *time.Time `json:"last_success,omitempty"`
	Error       string     `json:"error,omitempty"`
}

// Handler serves the pages. They only read: another method than GET and HEAD gets 405.
func (b *Board) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", health(b.standsStill))
	mux.HandleFunc("GET /readyz", health(b.drains))
	mux.HandleFunc("GET /status", b.serveStatus)
	mux.Handle("GET /metrics", promhttp.HandlerFor(b.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// Serve answers at address until stop is called. From the end of ctx on the process is not ready. Serve returns an error at once
// when it cannot listen there.
func (b *Board) Serve(ctx context.Context, address string) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve status: %w", err)
	}
	b.draining = ctx.Done()
	server := &http.Server{Handler: onLoopback(listener.Addr(), b.Handler()), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	go server.Serve(listener)
	return func() { server.Close() }, nil
}

// health is 200 "ok", or 503 with the cause.
func health(cause func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		text := cause()
		if text != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			text = "ok"
		}
		fmt.Fprintln(w, text)
	}
}

// turnLimit is more than a pass over a target may take: requests of a minute each, and a settle of 5 minutes.
const turnLimit = 15 * time.Minute

// standsStill returns a cause when no target had a pass for turnLimit. A slow target delays no other.
func (b *Board) standsStill() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since := time.Since(b.turned); len(b.order) > 0 && since > turnLimit {
		return fmt.Sprintf("targets: the last pass over any of the %d ended %s ago; limit %s", len(b.order), since.Round(time.Second), turnLimit)
	}
	return ""
}

// drains returns a cause once the process has to end. The process is ready also while the recommender is away: the sizes stay, and
// a sidecar that is not ready would take its application out of service.
func (b *Board) drains() string {
	select {
	case <-b.draining:
		return "draining: the process received a signal to end"
	default:
		return ""
	}
}

func (b *Board) serveStatus(w http.ResponseWriter, _ *http.Request) {
	latest := b.source()
	p := page{
		Process: b.process, Reports: b.reports(), Scaling: b.scaling(),
		Recommender: recommender{Address: b.process.Recommender, Reachable: latest.Reachable()},
	}
	if !latest.ReceivedAt.IsZero() {
		p.Recommender.LastSuccess = &latest.ReceivedAt
	}
	if latest.Err != nil {
		p.Recommender.Error = latest.Err.Error()
	}
	p.Targets = b.shown()
	if b.Containers != nil {
		p.Containers = b.Containers()
	}
	if b.Subsets != nil {
		p.Subsets = b.Subsets()
	}
	writeJSON(w, p)
}

// shown copies the targets, so that a slow reader of the page delays no pass.
func (b *Board) shown() []Target {
	b.mu.Lock()
	defer b.mu.Unlock()
	targets := make([]Target, len(b.order))
	for i, name := range b.order {
		targets[i] = *b.targets[name]
		targets[i].Counts = maps.Clone(targets[i].Counts)
	}
	return targets
}

// writeJSON encodes before it writes, so that an error can still have its status.
func writeJSON(w http.ResponseWriter, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, errors.Join(errors.New("encode the status"), err).Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(text, '\n'))
}
