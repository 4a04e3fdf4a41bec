package reconcile

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
)

// recommender takes reports, unless fail has an error for them.
type recommender struct {
	mu    sync.Mutex
	fail  func(name string) error
	taken []string
	tries int
}

func (r *recommender) recover() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = nil
}

func (r *recommender) take(_ context.Context, name string, _ ...grpc.CallOption) (taken struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	if r.fail != nil {
		if err := r.fail(name); err != nil {
			return taken, err
		}
	}
	r.taken = append(r.taken, name)
	return taken, nil
}

func start(t *testing.T, client *recommender, limit int) (*Reporter[string], *bytes.Buffer) {
	var logs bytes.Buffer
	r := NewReporter(client.take, limit, time.Second, slog.New(slog.NewTextHandler(&logs, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return r, &logs
}

func TestReporterSendsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &recommender{}
		r, _ := start(t, client, 10)
		for _, name := range []string{"A1", "A2", "b1"} {
			r.Report(report(name))
		}
		synctest.Wait()
		if got := strings.Join(client.taken, " "); got != "A1 A2 b1" {
			t.Errorf("taken %q", got)
		}
		if got, want := r.Stats(), (Stats{Sent: 3}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

func TestReporterWaitsForTheRecommender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &recommender{fail: func(string) error { return status.Error(codes.Unavailable, "gone") }}
		r, logs := start(t, client, 3)
		for _, name := range []string{"A1", "A2", "A3", "A4"} {
			r.Report(report(name))
		}
		advance(time.Minute)
		// A1 was tried first and went back when the queue was full.
		if got, want := r.Stats(), (Stats{Dropped: 1, Queued: 3}); got != want {
			t.Errorf("while the recommender is away: %+v, want %+v", got, want)
		}
		if client.tries > 20 {
			t.Errorf("%d tries in a minute, want a backoff", client.tries)
		}
		if n := strings.Count(logs.String(), "reports wait"); n != 1 {
			t.Errorf("said %d times that reports wait, want once:\n%s", n, logs)
		}
		client.recover()
		advance(16 * time.Second)
		if got := strings.Join(client.taken, " "); got != "A2 A3 A4" {
			t.Errorf("taken %q after the recommender came back, want A2 A3 A4", got)
		}
	})
}

func TestReporterGivesUpARejectedReport(t *testing.T) {
	tests := []struct {
		code  codes.Code
		tries int
	}{
		{codes.NotFound, 1}, {codes.InvalidArgument, 1}, {codes.Unimplemented, 1}, {codes.PermissionDenied, 1},
		{codes.Internal, maxFaults}, {codes.Unknown, maxFaults},
	}
	for _, tt := range tests {
		t.Run(tt.code.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, done := 0, ""
				client := &recommender{fail: func(name string) error {
					if name == "A1" {
						tries++
						return status.Error(tt.code, "no such pool")
					}
					return nil
				}}
				r, logs := start(t, client, 10)
				for _, name := range []string{"A1", "B1"} {
					sent := report(name)
					sent.Done = func(err error) { done += fmt.Sprintf("%s %s ", name, status.Code(err)) }
					r.Report(sent)
				}
				advance(time.Minute)
				if done != "A1 "+tt.code.String()+" B1 OK " {
					t.Errorf("called: %s", done)
				}
				if got, want := r.Stats(), (Stats{Sent: 1, Rejected: 1}); got != want || tries != tt.tries {
					t.Errorf("stats %+v after %d tries, want %+v after %d", got, tries, want, tt.tries)
				}
				if got := strings.Join(client.taken, " "); got != "B1" {
					t.Errorf("taken %q, want B1: one bad report holds up no other", got)
				}
				if !strings.Contains(logs.String(), "no such pool") {
					t.Errorf("the log does not say why:\n%s", logs)
				}
			})
		})
	}
}

// An unknown target is logged once, not each interval, also between reports that are taken.
func TestReporterLogsARejectionOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &recommender{fail: func(name string) error {
			if name == "a" {
				return status.Error(codes.NotFound, "no such pool")
			}
			return nil
		}}
		r, logs := start(t, client, 10)
		for range 50 {
			r.Report(report("a"))
			r.Report(report("b"))
			advance(2 * time.Second)
		}
		if got, want := r.Stats(), (Stats{Sent: 50, Rejected: 50}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
		if n := strings.Count(logs.String(), "\n"); n != 1 {
			t.Errorf("%d lines, want 1:\n%s", n, logs)
		}
	})
}

func TestReporterFlushEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &recommender{fail: func(string) error { return status.Error(codes.Unavailable, "gone") }}
		r := NewReporter(client.take, 3, time.Second, slog.New(slog.DiscardHandler))
		r.Report(report("A1"))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		r.Flush(ctx)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("flush took %s, want 2 s at most", took)
		}
		if got := r.Stats().Queued; got != 1 {
			t.Errorf("%d reports wait, want the one that was not taken", got)
		}
		client.recover()
		r.Flush(t.Context())
		if got, want := r.Stats(), (Stats{Sent: 1}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

// advance lets fake time pass, and runs everything that falls due in it.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
