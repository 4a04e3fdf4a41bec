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
	// Subsets are those that this process writes.
	Subsets []subsets.Status `json:"subsets,omitempty"`
}

type recommender struct {
	Address     string     `json:"address"`
	Reachable   bool       `json:"reachable"`
	LastSuccess *time.Time `json:"last_success,omitempty"`
	Error       string     `json:"error,omitempty"`
}

// Handler serves the three paths.
func (b *Board) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", b.serveHealth)
	mux.HandleFunc("GET /status", b.serveStatus)
	mux.Handle("GET /metrics", promhttp.HandlerFor(b.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// Serve answers at address until ctx ends. It returns an error at once when it cannot listen there.
func (b *Board) Serve(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serve status: %w", err)
	}
	server := &http.Server{Handler: b.Handler(), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	go server.Serve(listener)
	return nil
}

// serveHealth returns 200 as long as the process runs: it works also while the recommender is away.
func (b *Board) serveHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{"status": "ok", "recommender_reachable": b.source().Reachable()})
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
