package watch_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/pools/watch"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// scripted is a recommender in the bubble's fake time: each watch plays a script and then stays silent, or ends with `end`.
type scripted struct {
	poolsv1.PoolSizeServiceClient
	script []*poolsv1.WatchPoolSizesResponse
	end    error

	mu     sync.Mutex
	calls  []time.Time
	tokens []string
}

// opened returns when watches were opened, and with which tokens.
func (s *scripted) opened() ([]time.Time, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls), slices.Clone(s.tokens)
}

func (s *scripted) WatchPoolSizes(ctx context.Context, request *poolsv1.WatchPoolSizesRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[poolsv1.WatchPoolSizesResponse], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, time.Now())
	s.tokens = append(s.tokens, request.GetResumeToken())
	return &stream{ctx: ctx, events: s.script, end: s.end}, nil
}

type stream struct {
	grpc.ServerStreamingClient[poolsv1.WatchPoolSizesResponse]
	ctx    context.Context
	events []*poolsv1.WatchPoolSizesResponse
	end    error
}

func (s *stream) Recv() (*poolsv1.WatchPoolSizesResponse, error) {
	if len(s.events) > 0 {
		var event *poolsv1.WatchPoolSizesResponse
		event, s.events = s.events[0], s.events[1:]
		return event, nil
	}
	if s.end != nil {
		return nil, s.end
	}
	<-s.ctx.Done()
	return nil, status.FromContextError(s.ctx.Err()).Err()
}

func empty(token string) []*poolsv1.WatchPoolSizesResponse {
	return []*poolsv1.WatchPoolSizesResponse{{ResumeToken: token,
		Event: &poolsv1.WatchPoolSizesResponse_Snapshot{Snapshot: &commonv1.Snapshot{}}}}
}

func start(t *testing.T, s *scripted) (*watch.Watcher, *bytes.Buffer, context.CancelFunc) {
	var logs bytes.Buffer
	w := watch.NewWatcher(s, "", time.Second, slog.New(slog.NewTextHandler(&logs, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
	return w, &logs, cancel
}

// advance lets fake time pass, and runs everything that falls due in it.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestWatcherBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{end: status.Error(codes.Unavailable, "gone")}
		w, logs, _ := start(t, s)
		advance(10 * time.Minute)
		calls, _ := s.opened()
		if first := calls[1].Sub(calls[0]); first < 250*time.Millisecond || first > 750*time.Millisecond {
			t.Errorf("%s before the second attempt, want half a second, by half of it more or less", first)
		}
		// Pauses grow from 0.5 s to 10 s by 1.5 each; the ninth is the first of 10 s.
		for i := 9; i < len(calls); i++ {
			if gap := calls[i].Sub(calls[i-1]); gap < 5*time.Second || gap > 15*time.Second {
				t.Errorf("%s between attempts %d and %d, want 5 s to 15 s", gap, i-1, i)
			}
		}
		if n := len(calls); n < 40 || n > 130 {
			t.Errorf("%d attempts in 10 minutes, want 40 to 130", n)
		}
		if latest := w.Latest(); latest.Sizes != nil || latest.Reachable() || status.Code(latest.Err) != codes.Unavailable {
			t.Errorf("never reached, and yet: %+v", latest)
		}
		if n := strings.Count(logs.String(), "cannot reach the recommender"); n != 1 {
			t.Errorf("said %d times that the recommender is lost, want once:\n%s", n, logs)
		}
	})
}

// After an event the pauses begin with the short one again.
func TestWatcherForgetsItsBackoffOnceItReceived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{script: empty("a.1"), end: io.EOF}
		start(t, s)
		advance(time.Minute)
		calls, tokens := s.opened()
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].Sub(calls[i-1]); gap > 750*time.Millisecond {
				t.Fatalf("%s between attempts %d and %d, want at most 750 ms", gap, i-1, i)
			}
		}
		if tokens[0] != "" || tokens[1] != "a.1" {
			t.Errorf("tokens %q, want none and then a.1", tokens[:2])
		}
	})
}

func TestWatcherGivesUpASilentStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{script: empty("a.1")}
		w, _, _ := start(t, s)
		advance(24 * time.Second)
		calls, _ := s.opened()
		if !w.Latest().Reachable() || len(calls) != 1 {
			t.Errorf("after 24 s: %v after %d watches, want the first one", w.Latest().Err, len(calls))
		}
		advance(1100 * time.Millisecond)
		if err := w.Latest().Err; err == nil || err.Error() != "watch pool sizes: no event for 25s" {
			t.Errorf("after 25 s: %v", err)
		}
		advance(time.Second)
		calls, tokens := s.opened()
		if len(calls) != 2 || tokens[1] != "a.1" || !w.Latest().Reachable() {
			t.Errorf("%d watches, tokens %q, want it resumed", len(calls), tokens)
		}
	})
}

// When the recommender refuses a token, the next attempt leaves it out.
func TestWatcherDropsARefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{script: empty("a.1"), end: status.Error(codes.InvalidArgument, "resume_token")}
		start(t, s)
		advance(2 * time.Second)
		_, tokens := s.opened()
		for _, token := range tokens {
			if token != "" {
				t.Errorf("tokens %q, want none after the refusal", tokens)
				break
			}
		}
	})
}

func TestWatcherSaysNothingWhenItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, logs, cancel := start(t, &scripted{})
		cancel()
		synctest.Wait()
		if logs.Len() != 0 || w.Latest().Err != nil {
			t.Errorf("logs %q, error %v, want none", logs, w.Latest().Err)
		}
	})
}
