// Package audit reports observations and writes of targets to the recommender.
package audit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 10 * time.Second
	// maxFaults is how many times a report is tried when the recommender fails on it; then it is dropped.
	maxFaults = 5
)

// Stats counts reports since the start.
type Stats struct {
	Sent uint64 `json:"sent"`
	// Dropped were the oldest actions in a full queue.
	Dropped uint64 `json:"dropped"`
	// Rejected counts reports that the recommender refused for good.
	Rejected uint64 `json:"rejected"`
	Queued   int    `json:"queued"`
}

// Reporter sends reports one after another, actions first. While the recommender is away they wait in a bounded queue. Of
// observations, which only have the current size, the newest of each target suffices.
type Reporter struct {
	client  poolsv1.PoolSizeServiceClient
	timeout time.Duration
	log     *slog.Logger

	mu    sync.Mutex
	queue queue
	stats Stats
	added chan struct{}

	// The state of the log; only the sending goroutine uses it.
	waiting  bool
	rejected map[string]codes.Code // by target
}

// NewReporter returns a Reporter with room for `limit` waiting actions; timeout bounds each call.
func NewReporter(client poolsv1.PoolSizeServiceClient, limit int, timeout time.Duration, log *slog.Logger) *Reporter {
	return &Reporter{client: client, timeout: timeout, log: log, queue: queue{limit: limit},
		added: make(chan struct{}, 1), rejected: map[string]codes.Code{}}
}

// Report queues a report and returns at once.
func (r *Reporter) Report(report Report) {
	r.mu.Lock()
	if dropped := r.queue.push(report); dropped {
		r.stats.Dropped++
	}
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// Stats returns the counts so far.
func (r *Reporter) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.stats
	stats.Queued = r.queue.waiting()
	return stats
}

// Run sends until ctx ends. Flush sends the rest.
func (r *Reporter) Run(ctx context.Context) {
	for {
		if r.Flush(ctx); ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-r.added:
		}
	}
}

// Flush sends the queued reports until the queue is empty or ctx ends. Do not call it while Run runs.
func (r *Reporter) Flush(ctx context.Context) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = firstBackoff, maxBackoff
	faults := 0
	for ctx.Err() == nil {
		report, ok := r.pop()
		if !ok {
			return
		}
		err := r.send(ctx, report)
		if err != nil && again(err, &faults) {
			r.unpop(report)
			r.sayWaiting(report, err)
			select {
			case <-ctx.Done():
			case <-time.After(retry.NextBackOff()):
			}
			continue
		}
		if err != nil {
			r.count(func(s *Stats) { s.Rejected++ })
			r.sayRejected(report, err)
		} else {
			r.count(func(s *Stats) { s.Sent++ })
			delete(r.rejected, report.GetTargetName())
		}
		if report.Done != nil {
			report.Done(err)
		}
		r.waiting = false
		faults = 0
		retry.Reset()
	}
}

// again is true when the recommender is away, so that the report waits; and for the first maxFaults faults of a recommender
// that fails on this report.
func again(err error, faults *int) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Canceled:
		return true
	case codes.Internal, codes.Unknown:
		*faults++
		return *faults < maxFaults
	default:
		return false
	}
}

func (r *Reporter) sayWaiting(report Report, err error) {
	if !r.waiting {
		r.log.Warn("reports wait for the recommender", "target", report.GetTargetName(), "error", err)
	}
	r.waiting = true
}

// sayRejected logs a target's first rejection, and each one with another code than the last.
func (r *Reporter) sayRejected(report Report, err error) {
	target, code := report.GetTargetName(), status.Code(err)
	if r.rejected[target] != code {
		r.log.Warn("recommender rejected a report", "target", target, "outcome", report.GetOutcome(), "error", err)
	}
	r.rejected[target] = code
}

func (r *Reporter) send(ctx context.Context, report Report) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	_, err := r.client.ReportActuation(ctx, &poolsv1.ReportActuationRequest{Actuation: report.Actuation, RequestId: report.ID})
	return err
}

func (r *Reporter) pop() (Report, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queue.pop()
}

func (r *Reporter) unpop(report Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if dropped := r.queue.unpop(report); dropped {
		r.stats.Dropped++
	}
}

func (r *Reporter) count(change func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.stats)
}
