package subsets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"sluice.dev/actuators/internal/subsets"
	"sluice.dev/actuators/internal/tests/recommendertest"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// place is a place in memory.
type place struct {
	mu      sync.Mutex
	set     subsets.Set
	written []string
	onWrite func(subsets.Set) error
	unread  error
}

func (p *place) Read(context.Context) (subsets.Set, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set, p.unread
}

func (p *place) Write(_ context.Context, set subsets.Set) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = append(p.written, fmt.Sprintf("%s at %s", set, time.Since(begin)))
	if p.onWrite != nil {
		return p.onWrite(set)
	}
	p.set = set
	return nil
}

func (p *place) Remove(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = nil
	return nil
}

// reporter is called with each report.
type reporter func(subsets.Report)

func (r reporter) Report(report subsets.Report) { r(report) }

// begin is where the fake time of a bubble begins.
var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ran works on one place for a time, with one subset, and returns the reports.
func ran(t *testing.T, p *place, answer *subsetsv1.Subset, lasts time.Duration, change func(*subsets.Target)) (reports []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &subsets.Loop{Interval: time.Second, Grace: time.Second, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Reporter: reporter(func(r subsets.Report) {
				d := r.Message.GetDelivery()
				reports = append(reports, strings.TrimPrefix(d.GetOutcome().String(), "DELIVERY_OUTCOME_")+" "+d.GetDetail())
			})}
		target := subsets.Target{
			Name: "front-cart", Key: &subsetsv1.SubsetKey{Upstream: "front", Instance: "front-1", Downstream: "cart"}, Realizer: p,
			Rules: subsets.Rules{Apply: true, Min: 1, Cooldown: 3 * time.Second},
			Latest: func() subsets.Snapshot {
				return subsets.Snapshot{Answers: map[string]*subsetsv1.Subset{"cart": answer}}
			},
		}
		if change != nil {
			change(&target)
		}
		ctx, cancel := context.WithTimeout(t.Context(), lasts)
		defer cancel()
		l.Run(ctx, []subsets.Target{target})
	})
	return reports
}

func TestASubsetIsWrittenAndReportedOnce(t *testing.T) {
	p := &place{}
	reports := ran(t, p, answer(7, "10.0.0.1:80 2"), 20500*time.Millisecond, nil)
	if fmt.Sprint(reports) != "[APPLIED ]" || fmt.Sprint(p.written) != "[10.0.0.1:80 1 at 0s]" {
		t.Errorf("told %q, wrote %q", reports, p.written)
	}
	p = &place{}
	if reports := ran(t, p, answer(7, "10.0.0.1:80 2"), 3*time.Second, func(s *subsets.Target) { s.Rules.Apply = false }); reports != nil || p.written != nil {
		t.Errorf("without an opt-in: told %q, wrote %q", reports, p.written)
	}
	p = &place{}
	if ran(t, p, answer(7, "10.0.0.1:80 2"), 3*time.Second, func(s *subsets.Target) { s.RemoveOnExit = true }); p.set != nil {
		t.Errorf("after the exit %s is in force", p.set)
	}
}

func TestAnEndpointThatIsLeftOutIsReported(t *testing.T) {
	p := &place{}
	reports := ran(t, p, answer(7, "10.0.0.1:80", "cart:80"), 3*time.Second, nil)
	if fmt.Sprint(reports) != `[APPLIED cart-1: address "cart:80": want IP:PORT]` {
		t.Errorf("told %q", reports)
	}
}

// A place that fails, or that does not keep its subset, is tried ever more rarely, and the recommender gets one report.
func TestAPlaceThatFailsIsTriedEverMoreRarely(t *testing.T) {
	for name, onWrite := range map[string]func(subsets.Set) error{
		"read back": func(subsets.Set) error { return nil }, "out of order": func(subsets.Set) error { return errors.New("out of order") },
	} {
		p := &place{onWrite: onWrite}
		reports := ran(t, p, answer(7, "10.0.0.1:80"), 60500*time.Millisecond, nil)
		if len(reports) != 1 || !strings.HasPrefix(reports[0], "REFUSED "+name) {
			t.Errorf("%s: told %q", name, reports)
		}
		if got := strings.ReplaceAll(fmt.Sprint(p.written), "10.0.0.1:80 1 at ", ""); got != "[0s 3s 9s 21s 45s]" {
			t.Errorf("%s: wrote at %s", name, got)
		}
	}
}

func TestAPlaceMayTakeItsTime(t *testing.T) {
	p := &place{}
	p.onWrite = func(set subsets.Set) error {
		time.AfterFunc(2*time.Second, func() { p.mu.Lock(); p.set = set; p.mu.Unlock() })
		return nil
	}
	reports := ran(t, p, answer(7, "10.0.0.1:80"), 10*time.Second, func(s *subsets.Target) { s.Settle = 5 * time.Second })
	if fmt.Sprint(reports) != "[APPLIED ]" || len(p.written) != 1 {
		t.Errorf("told %q, wrote %q", reports, p.written)
	}
}

func TestAnUnreadablePlaceIsNotWritten(t *testing.T) {
	p := &place{unread: errors.New("out of order"), set: subsets.Set{{Address: netip.MustParseAddrPort("10.0.0.9:80"), Weight: 1}}}
	if reports := ran(t, p, answer(7, "10.0.0.1:80"), 10*time.Second, nil); reports != nil || p.written != nil {
		t.Errorf("told %q, wrote %q", reports, p.written)
	}
}

// On a real stream: everything, then the changes, and on after a break; the last subsets stay while nothing comes.
func TestWatcher(t *testing.T) {
	r := recommendertest.Start(t)
	connection, err := grpc.NewClient(r.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	key := func(instance, downstream string, s *subsetsv1.Subset) *subsetsv1.Subset {
		s.Key = &subsetsv1.SubsetKey{Upstream: "front", Instance: instance, Downstream: downstream}
		return s
	}
	r.Subset(key("front-1", "cart", answer(1, "10.0.0.1:80")))
	r.Subset(key("front-2", "cart", answer(1, "10.0.0.2:80")))
	w := subsets.NewWatcher(subsetsv1.NewSubsetServiceClient(connection), "front", "front-1", slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go w.Run(ctx)
	want := func(downstream string, revision uint64, answers int) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			latest := w.Latest()
			if len(latest.Answers) == answers && latest.Answers[downstream].GetRevision() == revision {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("after 2 min: %v", latest.Answers)
			}
		}
	}
	want("cart", 1, 1)
	news := w.Latest().Superseded
	r.Subset(key("front-1", "orders", answer(4, "10.0.0.3:80")))
	want("orders", 4, 2)
	<-news
	r.Break()
	r.Subset(key("front-1", "cart", answer(2, "10.0.0.2:80")))
	want("cart", 2, 2)
	r.Stop()
	want("cart", 2, 2)
	r.Listen(t)
	r.Subset(key("front-1", "cart", answer(3, "10.0.0.1:80")))
	want("cart", 3, 2)
}
