package scaling

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/reconcile"
	commonv1 "sluice.dev/api/common/v1"
)

// Notifier takes events; the recommender's client is one.
type Notifier func(ctx context.Context, event *commonv1.ScalingEvent) (pools uint32, err error)

// Stats is one observer on the status page.
type Stats struct {
	Service string `json:"service"`
	// Taken counts events that the recommender took, Rejected those that it refused for good.
	Taken    uint64 `json:"told"`
	Rejected uint64 `json:"rejected"`
	// Error is why the newest reading or the newest notification failed.
	Error string `json:"error,omitempty"`
}

// Observer reads one source every interval, and at once where the source signals a change. It notifies the recommender of
// each difference to the last event that it took. It sends an event that was not taken again, with the time of its first
// reading.
type Observer struct {
	service, actuator string
	interval          time.Duration
	source            Source
	notify            Notifier
	log               *slog.Logger

	reported Reading
	// pending is the newest reading that the recommender has not taken, read first at readAt.
	pending Reading
	readAt  time.Time

	mu    sync.Mutex
	stats Stats
}

// NewObserver returns an Observer whose first reading is an event.
func NewObserver(service, actuator string, interval time.Duration, source Source, notify Notifier, log *slog.Logger) *Observer {
	return &Observer{service: service, actuator: actuator, interval: interval, source: source, notify: notify,
		log: log.With("service", service), stats: Stats{Service: service}}
}

// Run observes until ctx ends.
func (o *Observer) Run(ctx context.Context) {
	var news <-chan struct{}
	if prompt, ok := o.source.(Prompt); ok {
		news = prompt.Changed()
	}
	reconcile.Every(ctx, o.interval, func() <-chan struct{} {
		o.Observe(ctx)
		return news
	})
}

// Observe reads once, and notifies the recommender if the reading differs.
func (o *Observer) Observe(ctx context.Context) {
	now, err := o.source.Read(ctx)
	if ctx.Err() != nil {
		return // the process is stopping; the source did nothing wrong
	}
	if err != nil {
		o.failed("cannot read the service's hardware or version", err)
		return
	}
	if o.readAt.IsZero() || !same(now, o.pending) {
		o.pending, o.readAt = now, time.Now()
	}
	event := now.Change(o.reported, o.service, o.actuator, o.readAt)
	if event == nil {
		o.count(func(s *Stats) { s.Error = "" })
		return
	}
	pools, err := o.notify(ctx, event)
	switch {
	case ctx.Err() != nil:
	case err != nil && status.Code(err) == codes.InvalidArgument: // the next attempt would fail alike
		o.reported = now.over(o.reported)
		o.count(func(s *Stats) { s.Rejected++ })
		o.failed("recommender rejected a scaling event", err)
	case err != nil:
		o.failed("scaling event waits for the recommender", err)
	default:
		o.reported = now.over(o.reported)
		o.count(func(s *Stats) { s.Taken++; s.Error = "" })
		o.log.Info("the recommender took a scaling event", "event", Words(event), "pools", pools)
	}
}

// Stats returns the counts so far.
func (o *Observer) Stats() Stats {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stats
}

// failed logs an error that differs from the last one.
func (o *Observer) failed(what string, err error) {
	if o.Stats().Error != err.Error() {
		o.log.Warn(what, "error", err)
	}
	o.count(func(s *Stats) { s.Error = err.Error() })
}

func (o *Observer) count(change func(*Stats)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.stats)
}
