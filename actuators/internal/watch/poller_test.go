package watch_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/watch"
)

var cart = pool.Key{Service: "cart", Side: sluicev1.Side_SIDE_SERVER}

// recommender answers with what it holds, fails with err, or never answers.
type recommender struct {
	sluicev1.PoolSizeServiceClient
	mu      sync.Mutex
	sizes   []*sluicev1.PoolSize
	err     error
	stalled bool
	calls   []time.Time
}

func (r *recommender) ListPoolSizes(ctx context.Context, _ *sluicev1.ListPoolSizesRequest, _ ...grpc.CallOption) (*sluicev1.ListPoolSizesResponse, error) {
	r.mu.Lock()
	r.calls = append(r.calls, time.Now())
	sizes, err, stalled := r.sizes, r.err, r.stalled
	r.mu.Unlock()
	if stalled {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &sluicev1.ListPoolSizesResponse{PoolSizes: sizes}, err
}

// answer is for good news, fail for bad.
func (r *recommender) answer(target uint32, revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = nil
	r.sizes = []*sluicev1.PoolSize{{Pool: cart.Proto(), Target: &target, Revision: revision}}
}

func (r *recommender) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sizes, r.err = nil, err
}

// start runs a Poller with an interval of 2 s and a timeout of 1 s in the bubble's fake time.
func start(t *testing.T, r *recommender) (*watch.Poller, *bytes.Buffer) {
	var logs bytes.Buffer
	p := watch.NewPoller(r, 2*time.Second, time.Second, slog.New(slog.NewTextHandler(&logs, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
	return p, &logs
}

func TestPollerListsEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recommender{}
		r.answer(12, 1)
		began := time.Now()
		p, _ := start(t, r)
		advance(5 * time.Second) // lists at 0, 2 and 4 s
		if len(r.calls) != 3 || r.calls[2].Sub(began) != 4*time.Second {
			t.Errorf("listed %d times, want 3", len(r.calls))
		}
		s := p.Latest()
		if !s.Reachable() || s.Sizes[cart].GetTarget() != 12 || !s.ReceivedAt.Equal(began.Add(4*time.Second)) {
			t.Errorf("latest %+v", s)
		}
	})
}

func TestPollerKeepsTheLastGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recommender{}
		r.answer(12, 1)
		p, logs := start(t, r)
		r.fail(status.Error(codes.Unavailable, "gone"))
		advance(time.Minute)
		s := p.Latest()
		if s.Reachable() || s.Sizes[cart].GetTarget() != 12 || status.Code(s.Err) != codes.Unavailable {
			t.Errorf("after a minute alone: %+v, want unreachable and 12", s)
		}
		if n := strings.Count(logs.String(), "cannot reach the recommender"); n != 1 {
			t.Errorf("said %d times that the recommender is lost, want once:\n%s", n, logs)
		}
		r.answer(16, 2)
		advance(16 * time.Second) // 10 s and half of that as jitter at most
		if s := p.Latest(); !s.Reachable() || s.Err != nil || s.Sizes[cart].GetTarget() != 16 {
			t.Errorf("after the recommender came back: %+v, want 16", s)
		}
		if n := strings.Count(logs.String(), "recommender reached"); n != 2 {
			t.Errorf("said %d times that the recommender is reached, want twice:\n%s", n, logs)
		}
	})
}

func TestPollerBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recommender{err: status.Error(codes.Unavailable, "gone")}
		p, _ := start(t, r)
		advance(10 * time.Minute)
		// Intervals grow from 2 s to 10 s, each within half of its length: at least 5 s and at most 15 s in the end.
		if n := len(r.calls); n < 40 || n > 120 {
			t.Errorf("%d attempts in 10 minutes, want 40 to 120", n)
		}
		for i := 6; i < len(r.calls); i++ {
			if gap := r.calls[i].Sub(r.calls[i-1]); gap < 5*time.Second || gap > 15*time.Second {
				t.Errorf("%s between attempts %d and %d, want 5 s to 15 s", gap, i-1, i)
			}
		}
		if s := p.Latest(); s.Sizes != nil || !s.ReceivedAt.IsZero() || s.Reachable() {
			t.Errorf("never reached, and yet: %+v", s)
		}
	})
}

func TestPollerGivesUpACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recommender{stalled: true}
		p, _ := start(t, r)
		if err := p.Latest().Err; err != nil {
			t.Errorf("before the timeout: %v", err)
		}
		advance(1100 * time.Millisecond)
		if err := p.Latest().Err; status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("after the timeout of 1 s: %v, want DEADLINE_EXCEEDED", err)
		}
	})
}

func TestSnapshotIsSupersededByOtherAnswersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recommender{}
		r.answer(12, 1)
		p, _ := start(t, r)
		first := p.Latest()
		superseded := func(s watch.Snapshot) bool {
			select {
			case <-s.Superseded:
				return true
			default:
				return false
			}
		}
		advance(5 * time.Second) // the same answers, twice more
		if superseded(first) {
			t.Error("superseded by the same revision")
		}
		r.answer(16, 2)
		advance(2 * time.Second)
		if !superseded(first) || superseded(p.Latest()) {
			t.Error("a newer revision must supersede the older answers and not its own")
		}
		r.fail(nil)
		advance(2 * time.Second)
		if len(p.Latest().Sizes) != 0 {
			t.Error("an empty list is what the recommender says: no answers")
		}
	})
}

// An answer without a pool belongs to no target.
func TestPollerToleratesNonsense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &recommender{sizes: []*sluicev1.PoolSize{nil, {}, {Pool: cart.Proto(), Revision: 3}}})
		if got := p.Latest().Sizes[cart].GetRevision(); got != 3 {
			t.Errorf("revision %d, want 3", got)
		}
	})
}

func TestPollerSaysNothingWhenItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recommender{stalled: true}
		var logs bytes.Buffer
		p := watch.NewPoller(r, 2*time.Second, time.Second, slog.New(slog.NewTextHandler(&logs, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		go p.Run(ctx)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if logs.Len() != 0 || p.Latest().Err != nil {
			t.Errorf("logs %q, error %v, want none", &logs, p.Latest().Err)
		}
	})
}

// advance lets fake time pass, and everything that falls due in it happen.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
