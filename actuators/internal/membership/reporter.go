package membership

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/reconcile"
	commonv1 "sluice.dev/api/common/v1"
)

const (
	// settle lies between a change and its reading: one rollout step changes several objects.
	settle = 50 * time.Millisecond
	// gap is the least time between two lists of a service. A rollout of 1,000 pods changes the list hundreds of times, and each
	// list is 100 kB in the journal.
	gap = 250 * time.Millisecond
	// readAgain is how soon a source that failed is read again without a change.
	readAgain = time.Second
	// earliest is the part of the renewal time at which the earliest renewal is due, so that actuators that began together do
	// not renew together.
	earliest = 0.8
	// spread is the longest wait after the recommender's return, for the same reason.
	spread = 300 * time.Millisecond
)

var errNone = errors.New("the service has no container that is ready: the last list counts until its lease ends")

// Notifier takes events; the recommender's client is one.
type Notifier func(ctx context.Context, event *commonv1.ScalingEvent) (pools uint32, err error)

// Reporter sends the list of one service: at each change, again within `renew`, and after an error of the source or of the
// recommender. One list waits at most, the newest. It never sends an empty list, nor one that its source is not sure of.
type Reporter struct {
	service, actuator string
	renew             time.Duration
	source            Source
	notify            Notifier
	log               *slog.Logger
	returned          chan struct{}
	retries           *backoff.ExponentialBackOff

	// taken is the last list that the recommender took, or refused for good; nil where the next one is to be sent in any case.
	taken []Container
	// refused: the recommender refused it.
	refused bool
	// dueAt is the time of the renewal, notBefore that of the earliest next call.
	dueAt, notBefore time.Time

	mu    sync.Mutex
	stats Stats
}

// NewReporter returns a Reporter whose first list is sent.
func NewReporter(service, actuator string, renew time.Duration, source Source, notify Notifier, log *slog.Logger) *Reporter {
	return &Reporter{
		service: service, actuator: actuator, renew: renew, source: source, notify: notify, log: log.With("service", service),
		returned: make(chan struct{}, 1), retries: reconcile.Pauses(), stats: Stats{Service: service},
	}
}

// Returned tells the Reporter that the recommender can be reached again after it could not.
func (r *Reporter) Returned() {
	select {
	case r.returned <- struct{}{}:
	default:
	}
}

// Run reports until ctx ends.
func (r *Reporter) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := r.pass(ctx, time.Now())
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		case <-r.source.Changed():
			sleep(ctx, settle)
		case <-r.returned:
			sleep(ctx, rand.N(spread))
			r.taken, r.notBefore = nil, time.Time{}
			r.retries.Reset()
		}
	}
}

// pass reads once and sends the list if it is due. It returns the time to the next pass without a change.
func (r *Reporter) pass(ctx context.Context, now time.Time) (wait time.Duration) {
	if now.Before(r.notBefore) {
		return r.notBefore.Sub(now)
	}
	within, cancel := context.WithTimeout(ctx, readAgain)
	list, err := r.source.Read(within)
	cancel()
	switch {
	case ctx.Err() != nil:
		return 0 // the process is stopping; the source did nothing wrong
	case err != nil:
		r.taken = nil
		r.failed("the containers of a service are not known: its last list counts until its lease ends", err)
		return readAgain
	}
	r.faulty(list.Faults)
	if len(list.Containers) == 0 {
		r.taken = nil
		r.failed("no list is sent", errNone)
		return r.renew
	}
	if r.taken != nil && same(r.taken, list.Containers) && now.Before(r.dueAt) {
		if !r.refused {
			r.count(func(s *Stats) { s.Error = "" })
		}
		return r.dueAt.Sub(now)
	}
	return r.send(ctx, list.Containers)
}

// send makes one call. A list that was not taken is tried again after a pause; one that was refused for good when it differs,
// or when a renewal is due.
func (r *Reporter) send(ctx context.Context, containers []Container) (wait time.Duration) {
	_, err := r.notify(ctx, event(r.service, r.actuator, containers))
	now := time.Now()
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil && status.Code(err) != codes.InvalidArgument:
		r.taken = nil
		r.count(func(s *Stats) { s.Failed++ })
		r.failed("the containers of a service wait for the recommender", err)
		wait = r.retries.NextBackOff()
		r.notBefore = now.Add(wait)
		return wait
	case err != nil:
		r.count(func(s *Stats) { s.Rejected++ })
		r.failed("the recommender refused the containers of a service", err)
	default:
		r.took(containers, now)
	}
	r.refused = err != nil
	r.retries.Reset()
	wait = time.Duration((earliest + (1-earliest)*rand.Float64()) * float64(r.renew))
	r.taken, r.notBefore, r.dueAt = containers, now.Add(gap), now.Add(wait)
	return wait
}

// took counts a list. Only a change is worth a line in the log.
func (r *Reporter) took(containers []Container, now time.Time) {
	drained := 0
	for _, c := range containers {
		if c.Drained {
			drained++
		}
	}
	if !same(r.taken, containers) {
		r.log.Info("the recommender took the containers of a service", "live", len(containers)-drained, "drained", drained)
	}
	r.count(func(s *Stats) {
		s.Taken, s.TakenAt, s.Error = s.Taken+1, &now, ""
		s.Live, s.Drained = len(containers)-drained, drained
	})
}

func sleep(ctx context.Context, lasts time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(lasts):
	}
}
