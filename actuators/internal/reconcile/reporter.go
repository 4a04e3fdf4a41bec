package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxFaults is how many times a report is tried when the recommender fails on it; then it is dropped.
const maxFaults = 5

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
type Reporter[M any] struct {
	send    func(context.Context, M) error
	timeout time.Duration
	log     *slog.Logger

	mu    sync.Mutex
	queue queue[M]
	stats Stats
	added chan struct{}

	// The state of the log; only the sending goroutine uses it.
	waiting  bool
	rejected map[string]codes.Code // by target
}

// NewReporter returns a Reporter with room for `limit` waiting actions. call is the recommender's; timeout bounds it.
func NewReporter[M, R any](call func(context.Context, M, ...grpc.CallOption) (R, error), limit int, timeout time.Duration, log *slog.Logger) *Reporter[M] {
	send := func(ctx context.Context, message M) error {
		_, err := call(ctx, message)
		return err
	}
	return &Reporter[M]{send: send, timeout: timeout, log: log, queue: queue[M]{limit: limit},
		added: make(chan struct{}, 1), rejected: map[string]codes.Code{}}
}

// Report queues a report and returns at once.
func (r *Reporter[M]) Report(report Report[M]) {
	r.mu.Lock()
	dropped := r.queue.push(report)
	if dropped {
		r.stats.Dropped++
	}
	r.mu.Unlock()
	if dropped && report.Outcome != Observed {
		r.log.Warn("a full queue dropped its oldest report", "newest_target", report.Target)
	}
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// Stats returns the counts so far.
func (r *Reporter[M]) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.stats
	stats.Queued = r.queue.waiting()
	return stats
}

// Run sends until ctx ends. Flush sends the rest.
func (r *Reporter[M]) Run(ctx context.Context) {
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
func (r *Reporter[M]) Flush(ctx context.Context) {
	retry := Pauses()
	faults := 0
	for ctx.Err() == nil {
		report, ok := r.pop()
		if !ok {
			return
		}
		call, cancel := context.WithTimeout(ctx, r.timeout)
		err := r.send(call, report.Message)
		cancel()
		if err != nil && again(err, &faults) {
			r.unpop(report)
			r.logWaiting(report, err)
			select {
			case <-ctx.Done():
			case <-time.After(retry.NextBackOff()):
			}
			continue
		}
		if err != nil {
			r.count(func(s *Stats) { s.Rejected++ })
			r.logRejection(report, err)
		} else {
			r.count(func(s *Stats) { s.Sent++ })
			delete(r.rejected, report.Target)
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

func (r *Reporter[M]) logWaiting(report Report[M], err error) {
	if !r.waiting {
		r.log.Warn("reports wait for the recommender", "target", report.Target, "error", err)
	}
	r.waiting = true
}

// logRejection logs a target's first rejection, and each one with another code than the last.
func (r *Reporter[M]) logRejection(report Report[M], err error) {
	target, code := report.Target, status.Code(err)
	if r.rejected[target] != code {
		r.log.Warn("recommender rejected a report", "target", target, "outcome", report.Outcome, "error", err)
	}
	r.rejected[target] = code
}

func (r *Reporter[M]) pop() (Report[M], bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queue.pop()
}

func (r *Reporter[M]) unpop(report Report[M]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if dropped := r.queue.unpop(report); dropped {
		r.stats.Dropped++
	}
}

func (r *Reporter[M]) count(change func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.stats)
}
