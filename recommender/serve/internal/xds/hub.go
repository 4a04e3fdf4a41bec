// Package xds serves subsets to clients that speak xDS, such as Envoy and gRPC, as endpoints (EDS), with the resources that a
// gRPC client needs around them (LDS, RDS, CDS). It keeps only records of the journal, and the versions sent on each stream.
package xds

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Journal takes reports of deliveries and sizes.
type Journal interface {
	// Deliver writes a client's response to a subset to a shard. It may wait for the journal.
	Deliver(ctx context.Context, shard int32, key keys.Subset, report *subsetsv1.SubsetReport) error
	// Observed writes the size of a target, Report an actuation of it. They may wait for the journal.
	Observed(ctx context.Context, shard int32, pool keys.Pool, instance string, size *poolsv1.ObservedSize) error
	Report(ctx context.Context, key string, report proto.Message, shards ...int32) error
	// Ends are the offsets after the last committed records of the journal's shards.
	Ends(context.Context) ([]int64, error)
}

// Hub answers the streams at each publication.
type Hub struct {
	journal      Journal
	logger       *slog.Logger
	counts       *Counts
	tables       atomic.Pointer[table.Tables]
	ctx          context.Context
	stop         context.CancelFunc
	queue        chan func(context.Context) error
	settings     Settings
	observeEvery time.Duration

	mu      sync.Mutex
	open    map[*watch]struct{}
	clients map[*client]struct{}
	// faults are the faults of records that were already logged, by service and instance.
	faults map[string]fault
	// refusals bounds the lines of the log.
	refusals refusals
}

// Settings are what clusters get besides endpoints. SizedPools: the pools whose sizes clients get. OutlierDetection: that of
// every cluster for which Clusters has none; nil: none. Localities: those of endpoints for Envoys.
type Settings struct {
	SizedPools       SizedPools
	OutlierDetection *cluster.OutlierDetection
	Clusters         ClusterSettings
	Localities       Localities
}

// New is a hub without tables: it sends nothing until Serve.
func New(journal Journal, logger *slog.Logger, settings Settings) *Hub {
	ctx, stop := context.WithCancel(context.Background())
	h := &Hub{
		journal: journal, logger: logger, counts: newCounts(), ctx: ctx, stop: stop, queue: make(chan func(context.Context) error, mostWaiting),
		settings: settings, observeEvery: observeEvery,
		open: map[*watch]struct{}{}, clients: map[*client]struct{}{}, faults: map[string]fault{},
	}
	go h.deliver()
	if len(settings.SizedPools) > 0 {
		go h.observe()
	}
	return h
}

// Serve answers from tables, until other tables replace them.
func (h *Hub) Serve(tables *table.Tables) {
	h.tables.Store(tables)
	go h.follow(tables)
}

// Stop ends every stream. Clients keep their resources, and connect to another server.
func (h *Hub) Stop() { h.stop() }

// Counts are the metrics of xDS.
func (h *Hub) Counts() *Counts { return h.counts }

// follow checks every watch at each publication; pools are published last.
func (h *Hub) follow(tables *table.Tables) {
	for view := tables.Pools.View(); h.tables.Load() == tables; {
		h.answerAll()
		select {
		case <-view.Next():
			view = tables.Pools.View()
		case <-tables.Pools.Closed():
			return
		case <-h.ctx.Done():
			return
		}
	}
}

func (h *Hub) answerAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for watch := range h.open {
		h.tryAnswer(watch)
	}
}

// tryAnswer answers a watch if there is news for it. mu is held, so that a cancelled watch is never answered.
func (h *Hub) tryAnswer(w *watch) {
	if tables := h.tables.Load(); tables != nil && w.answer(tables) {
		delete(h.open, w)
	}
}

// watch keeps w open until it is answered, once, or cancelled.
func (h *Hub) watch(w *watch) (cancel func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[w] = struct{}{}
	h.tryAnswer(w)
	if tables := h.tables.Load(); tables != nil && w.behind(tables) {
		h.waitBehind(w)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.open, w)
	}
}

// fault logs the fault of a container, once until the fault changes.
func (h *Hub) fault(service, instance string, why fault) {
	h.counts.withheld.WithLabelValues(string(why)).Inc()
	key := service + "\n" + instance
	if len(h.faults) > mostFaults {
		clear(h.faults)
	}
	if h.faults[key] != why {
		h.faults[key] = why
		h.logger.Warn("an endpoint is left out", "service", service, "instance", instance, "why", string(why))
	}
}

// mostFaults bounds the remembered faults.
const mostFaults = 10_000
