package membership

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonv1 "sluice.dev/api/common/v1"
)

// service is a source whose list a test sets, and a recommender that records the lists and answers with err.
type service struct {
	mu      sync.Mutex
	list    List
	unknown error
	err     error
	changed chan struct{}

	began time.Time
	lists []string
	at    []time.Duration
}

func (s *service) Read(context.Context) (List, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list, s.unknown
}

func (s *service) Changed() <-chan struct{} { return s.changed }

// set changes the list: a name is an instance, and one that ends with "-" is drained.
func (s *service) set(names string, unknown error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.unknown = List{}, unknown
	for name := range strings.FieldsSeq(names) {
		instance, drained := strings.CutSuffix(name, "-")
		s.list.Containers = append(s.list.Containers, Container{Instance: instance, Drained: drained})
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *service) answer(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *service) notify(_ context.Context, e *commonv1.ScalingEvent) (uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, c := range e.GetContainers() {
		name := c.GetInstance()
		if c.GetDrained() {
			name += "-"
		}
		names = append(names, name)
	}
	s.lists = append(s.lists, strings.Join(names, " "))
	s.at = append(s.at, time.Since(s.began))
	return 0, s.err
}

// calls returns the lists since the last call of it, and their times since the start.
func (s *service) calls() (lists []string, at []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lists, at = s.lists, s.at
	s.lists, s.at = nil, nil
	return lists, at
}

// reporting runs a test with a reporter that renews every 100 s.
func reporting(t *testing.T, names string, test func(s *service, r *Reporter)) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{changed: make(chan struct{}, 1), began: time.Now()}
		s.set(names, nil)
		<-s.changed
		r := NewReporter("cart", "actuator", 100*time.Second, s, s.notify, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		synctest.Wait()
		test(s, r)
		cancel()
		<-done
	})
}

func pass(lasts time.Duration) {
	time.Sleep(lasts)
	synctest.Wait()
}

func want(t *testing.T, s *service, lists ...string) (at []time.Duration) {
	t.Helper()
	got, at := s.calls()
	if strings.Join(got, "; ") != strings.Join(lists, "; ") {
		t.Fatalf("lists %q at %v, want %q", got, at, lists)
	}
	return at
}

func TestAListIsSentAtOnceAndRenewedWithinItsTime(t *testing.T) {
	reporting(t, "a b", func(s *service, r *Reporter) {
		want(t, s, "a b")
		pass(79 * time.Second)
		want(t, s)
		pass(21 * time.Second)
		want(t, s, "a b")
		pass(1000 * time.Second)
		lists, at := s.calls()
		if len(lists) < 10 || len(lists) > 12 { // 1000 s in steps of 80 to 100 s
			t.Errorf("%d renewals at %v", len(lists), at)
		}
		if got := r.Stats(); got.Live != 2 || got.Taken != uint64(len(lists)+2) || got.Error != "" {
			t.Errorf("%+v", got)
		}
	})
}

func TestAChangeIsSentIn50MillisecondsAndManyAreOne(t *testing.T) {
	reporting(t, "a b", func(s *service, r *Reporter) {
		want(t, s, "a b")
		pass(time.Second)
		s.set("a- b", nil)
		pass(50 * time.Millisecond)
		want(t, s, "a- b")
		s.set("a- b c", nil)
		pass(100 * time.Millisecond)
		s.set("b c", nil)
		pass(149 * time.Millisecond)
		want(t, s)
		pass(time.Millisecond)
		want(t, s, "b c")
		s.set("b c", nil) // another object changed
		pass(time.Second)
		want(t, s)
		if got := r.Stats(); got.Live != 2 || got.Drained != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A watch that is broken sends nothing, and renews nothing: then the lease ends, and spans decide.
func TestAnUnknownListIsNotSentAndAKnownOneIsSentAgain(t *testing.T) {
	reporting(t, "a b", func(s *service, r *Reporter) {
		want(t, s, "a b")
		s.set("a", errors.New("connection refused"))
		pass(500 * time.Second)
		want(t, s)
		if got := r.Stats().Error; got != "connection refused" {
			t.Errorf("error %q", got)
		}
		s.set("a b", nil)
		pass(50 * time.Millisecond)
		want(t, s, "a b")
		if got := r.Stats().Error; got != "" {
			t.Errorf("error %q", got)
		}
	})
}

func TestAnEmptyListIsNotSent(t *testing.T) {
	reporting(t, "a", func(s *service, r *Reporter) {
		want(t, s, "a")
		s.set("", nil)
		pass(500 * time.Second)
		want(t, s)
		if got := r.Stats().Error; !strings.Contains(got, "no container that is ready") {
			t.Errorf("error %q", got)
		}
		s.set("a", nil)
		pass(50 * time.Millisecond)
		want(t, s, "a")
	})
}

func TestWhileTheRecommenderIsAwayTheNewestListWaits(t *testing.T) {
	reporting(t, "a", func(s *service, r *Reporter) {
		want(t, s, "a")
		s.answer(status.Error(codes.Unavailable, "away"))
		pass(time.Second)
		for _, names := range []string{"a b", "a b c", "b c"} {
			s.set(names, nil)
			pass(20 * time.Second)
		}
		_, at := s.calls()
		if len(at) < 5 || len(at) > 30 { // pauses of 0.25 to 15 s
			t.Errorf("%d tries at %v", len(at), at)
		}
		if got := r.Stats(); got.Failed != uint64(len(at)) || !strings.Contains(got.Error, "away") || got.Live != 1 {
			t.Errorf("%+v after %d tries", got, len(at))
		}
		s.answer(nil)
		r.Returned()
		pass(spread)
		want(t, s, "b c")
		pass(50 * time.Second)
		want(t, s)
		r.Returned() // it restarted between two lists
		pass(spread)
		want(t, s, "b c")
	})
}

func TestARefusedListIsSentAgainWhenItDiffers(t *testing.T) {
	reporting(t, "a", func(s *service, r *Reporter) {
		want(t, s, "a")
		pass(time.Second)
		s.answer(status.Error(codes.InvalidArgument, "scaling_event.containers"))
		s.set("a b", nil)
		pass(50 * time.Millisecond)
		want(t, s, "a b")
		s.set("a b", nil)
		pass(50 * time.Second)
		want(t, s)
		if got := r.Stats(); got.Rejected != 1 || !strings.Contains(got.Error, "scaling_event.containers") || got.Taken != 1 {
			t.Errorf("%+v", got)
		}
		s.answer(nil)
		s.set("a c", nil)
		pass(50 * time.Millisecond)
		want(t, s, "a c")
	})
}
