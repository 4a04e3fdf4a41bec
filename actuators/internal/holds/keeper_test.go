package holds_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/actuators/internal/holds"
	"sluice.dev/actuators/internal/loop"
	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/realize/realizetest"
	poolsv1 "sluice.dev/api/pools/v1"
)

// server is the recommender's word on who has what: the first who asked, until its lease is over.
type server struct {
	mu    sync.Mutex
	held  map[string]held
	calls int
	most  int // targets of one call
	fault error
}

type held struct {
	holder string
	until  time.Time
}

func (s *server) HoldTargets(_ context.Context, ask *poolsv1.HoldTargetsRequest, _ ...grpc.CallOption) (*poolsv1.HoldTargetsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.most = max(s.most, len(ask.GetTargets())+len(ask.GetReleases()))
	if s.fault != nil {
		return nil, s.fault
	}
	if s.held == nil {
		s.held = map[string]held{}
	}
	for _, target := range ask.GetReleases() {
		if s.held[target].holder == ask.GetHolder() {
			delete(s.held, target)
		}
	}
	answer := &poolsv1.HoldTargetsResponse{}
	for _, target := range ask.GetTargets() {
		has, now := s.held[target], time.Now()
		if has.holder == ask.GetHolder() || !now.Before(has.until) {
			has = held{ask.GetHolder(), now.Add(ask.GetLease().AsDuration())}
			s.held[target] = has
		}
		answer.Holds = append(answer.Holds, &poolsv1.Hold{
			Target: target, Granted: has.holder == ask.GetHolder(), Holder: has.holder, Left: durationpb.New(has.until.Sub(now)),
		})
	}
	return answer, nil
}

func (s *server) fail(with error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = with
}

// counted are the calls since it was asked last.
func (s *server) counted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls
	s.calls = 0
	return n
}

// reached is a pool that other hosts reach.
type reached struct {
	*realizetest.Fake
	key string
}

func (r reached) Key(string) string { return r.key }

func target(name, key string) loop.Target {
	return loop.Target{Name: name, Realizer: reached{realizetest.NewFake(64), key}, Rules: policy.Rules{Apply: true}}
}

// process is a keeper that runs. end stops it as a signal does, kill without a word.
type process struct {
	*holds.Keeper
	logs bytes.Buffer
	stop context.CancelFunc
	done chan struct{}
}

func start(t *testing.T, s *server, holder string) *process {
	p := &process{done: make(chan struct{})}
	p.Keeper = holds.New(s, holder, "host", 30*time.Second, 2*time.Second, slog.New(slog.NewTextHandler(&p.logs, nil)))
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() { defer close(p.done); p.Run(ctx) }()
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() { p.stop(); <-p.done }

func (p *process) end(t *testing.T) {
	p.kill()
	p.Release(t.Context())
}

// says is what comes of a claim: "mine", or why not.
func (p *process) says(t *testing.T, target loop.Target) string {
	if err := p.Claim(t.Context(), target); err != nil {
		return err.Error()
	}
	return "mine"
}

func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestOneOfTwoHasATargetAndTheOtherTakesItOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, x := &server{}, target("x", "http app/x")
		a := start(t, s, "a")
		if got := a.says(t, x); got != "mine" {
			t.Fatal(got)
		}
		b := start(t, s, "b")
		for range 20 {
			if mine, other := a.says(t, x), b.says(t, x); mine != "mine" || other != "a has the target" {
				t.Fatalf("%q, %q", mine, other)
			}
			advance(5 * time.Second)
		}
		a.kill()
		began := time.Now()
		for b.says(t, x) != "mine" {
			advance(100 * time.Millisecond)
			if since := time.Since(began); a.says(t, x) == "mine" && b.says(t, x) == "mine" {
				t.Fatalf("both have it after %s", since)
			} else if since > 31*time.Second {
				t.Fatal("nobody has it")
			}
		}
		if a.says(t, x) == "mine" {
			t.Error("the first still has it")
		}
	})
}

func TestWhatIsGivenUpIsAnothersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, x, y := &server{}, target("x", "http app/x"), target("y", "http app/y")
		a := start(t, s, "a")
		a.says(t, x)
		a.says(t, y)
		a.Keeper.End("x") // found no more
		advance(time.Second)
		b := start(t, s, "b")
		if one, two := b.says(t, x), b.says(t, y); one != "mine" || two != "a has the target" {
			t.Errorf("%q, %q", one, two)
		}
		a.end(t)
		advance(31 * time.Second) // b asks when the lease would end
		if got := b.says(t, y); got != "mine" {
			t.Error(got)
		}
		c := start(t, s, "c")
		b.end(t)
		if one, two := c.says(t, x), c.says(t, y); one != "mine" || two != "mine" {
			t.Errorf("%q, %q", one, two)
		}
	})
}

func TestOneCallForAllEachHalfOfALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		a := start(t, s, "a")
		var all sync.WaitGroup
		for i := range 400 {
			all.Go(func() {
				if got := a.says(t, target(fmt.Sprint("t", i), fmt.Sprint("http app/", i))); got != "mine" {
					t.Error(got)
				}
			})
		}
		all.Wait()
		if n := s.counted(); n != 1 {
			t.Errorf("%d calls for 400 targets", n)
		}
		advance(time.Minute + time.Second)
		if n := s.counted(); n != 4 {
			t.Errorf("%d calls in a minute", n)
		}
		for i := range 1000 { // more than a call takes
			all.Go(func() { a.says(t, target(fmt.Sprint("u", i), fmt.Sprint("http other/", i))) })
		}
		all.Wait()
		if n := s.counted(); n != 3 || s.most != 500 {
			t.Errorf("%d calls of at most %d for 1400 targets", n, s.most)
		}
	})
}

func TestWithoutAServerAHoldEndsBeforeItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, x := &server{}, target("x", "http app/x")
		a := start(t, s, "a")
		a.says(t, x)
		s.fail(status.Error(codes.Unavailable, "no broker"))
		advance(22400 * time.Millisecond)
		if got := a.says(t, x); got != "mine" {
			t.Error(got)
		}
		advance(200 * time.Millisecond)
		if got := a.says(t, x); got != "who has the target is not known: no broker" {
			t.Error(got)
		}
		if got := a.says(t, target("y", "http app/y")); got != "who has the target is not known: no broker" {
			t.Error(got)
		}
		s.fail(nil)
		advance(6 * time.Second)
		if got := a.says(t, x); got != "mine" {
			t.Error(got)
		}
		s.fail(status.Error(codes.Unimplemented, "an older server")) // one of several: those that know are to be asked
		advance(time.Minute)
		if got := a.says(t, x); !strings.Contains(got, "not known") {
			t.Error(got)
		}
	})
}

func TestAServerThatDoesNotKnowTheCallIsWarnedOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, x := &server{fault: status.Error(codes.Unimplemented, "unknown method HoldTargets")}, target("x", "http app/x")
		a := start(t, s, "a")
		for range 10 {
			if got := a.says(t, x); got != "mine" {
				t.Error(got)
			}
			advance(10 * time.Second)
		}
		s.held = map[string]held{"http app/x": {"b", time.Now().Add(time.Hour)}}
		s.fail(nil) // it is replaced by a newer one
		advance(15 * time.Second)
		if got := a.says(t, x); got != "b has the target" {
			t.Error(got)
		}
		a.kill()
		if n := strings.Count(a.logs.String(), "\n"); n != 1 {
			t.Errorf("%d lines:\n%s", n, &a.logs)
		}
	})
}

func TestWhatIsNotWrittenOrNotReachedIsNotClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		a := start(t, s, "a")
		look := target("x", "http app/x")
		look.Rules.Apply = false
		own := loop.Target{Name: "file", Realizer: realizetest.NewFake(64), Rules: policy.Rules{Apply: true}}
		for _, each := range []loop.Target{look, own} {
			if got := a.says(t, each); got != "mine" {
				t.Error(got)
			}
		}
		advance(time.Minute)
		if n := s.counted(); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestTwoNamesOfOnePlaceAreOneHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		a, b := start(t, s, "a"), start(t, s, "b")
		a.says(t, target("x", "http app/x"))
		a.says(t, target("again", "http app/x"))
		a.Keeper.End("x")
		advance(time.Second)
		if got := b.says(t, target("x", "http app/x")); got != "a has the target" {
			t.Error(got)
		}
	})
}
