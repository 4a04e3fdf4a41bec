package watch_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/tests/recommendertest"
	poolsv1 "sluice.dev/api/pools/v1"
)

// These tests watch a real gRPC server on loopback.

var (
	cart      = pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}
	catalogue = pool.Key{Service: "catalogue", Side: poolsv1.Side_SIDE_SERVER}
)

// safeLog is a log that a test may read while it is written.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// follow runs a Watcher on the server until the test ends.
func follow(t *testing.T, s *recommendertest.Server, service string) (*watch.Watcher, *safeLog) {
	connection, err := grpc.NewClient(s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	logs := &safeLog{}
	w := watch.NewWatcher(poolsv1.NewPoolSizeServiceClient(connection), service, time.Second, slog.New(slog.NewTextHandler(logs, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done; connection.Close() })
	return w, logs
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 2 min still not: %s", what)
		}
	}
}

func target(w *watch.Watcher, key pool.Key) uint32 { return w.Latest().Answer(key).GetTarget() }

func TestWatcherFollowsChangesAndLeases(t *testing.T) {
	s := recommendertest.Start(t)
	s.Recommend(cart, 12, 1)
	s.Recommend(catalogue, 6, 1)
	w, _ := follow(t, s, "")
	eventually(t, "both answers", func() bool { return target(w, cart) == 12 && target(w, catalogue) == 6 })
	first := w.Latest()

	s.Recommend(cart, 16, 2)
	eventually(t, "the change", func() bool { return target(w, cart) == 16 })
	select {
	case <-first.Superseded:
	default:
		t.Error("other answers do not supersede those before")
	}
	if first.Answer(cart).GetTarget() != 12 {
		t.Error("a snapshot changed after it was handed out")
	}

	second := w.Latest()
	s.Beat(time.Hour)
	eventually(t, "the lease of the heartbeat", func() bool {
		return time.Until(w.Latest().Answer(catalogue).GetValidUntil().AsTime()) > 59*time.Minute
	})
	select {
	case <-second.Superseded:
		t.Error("superseded by a heartbeat, which says that nothing changed")
	default:
	}
	if n := len(s.Watches()); n != 1 {
		t.Errorf("%d watches, want one", n)
	}
}

func TestWatcherAsksForItsServiceOnly(t *testing.T) {
	s := recommendertest.Start(t)
	s.Recommend(cart, 12, 1)
	s.Recommend(catalogue, 6, 1)
	w, _ := follow(t, s, "cart")
	eventually(t, "the answer", func() bool { return target(w, cart) == 12 })
	if sizes := w.Latest().Sizes; len(sizes) != 1 {
		t.Errorf("%d answers, want that of cart", len(sizes))
	}
}

func TestWatcherResumesWhereItWas(t *testing.T) {
	s := recommendertest.Start(t)
	s.Recommend(cart, 12, 1)
	w, logs := follow(t, s, "")
	eventually(t, "the answer", func() bool { return target(w, cart) == 12 })
	s.Break()
	eventually(t, "the loss", func() bool { return !w.Latest().Reachable() })
	if got := target(w, cart); got != 12 {
		t.Errorf("cart is %d while the recommender is lost, want the last good 12", got)
	}
	s.Recommend(cart, 16, 2)
	eventually(t, "what changed meanwhile", func() bool { return w.Latest().Reachable() && target(w, cart) == 16 })
	requests := s.Watches()
	if len(requests) != 2 || requests[0].GetResumeToken() != "" || requests[1].GetResumeToken() == "" {
		t.Errorf("watches %v, want one without and one with a token", requests)
	}
	if logs.count("cannot reach the recommender") != 1 || logs.count("recommender reached") != 2 {
		t.Errorf("the log says it otherwise than once each: %s", &logs.text)
	}
}

// Pools that another run of the recommender does not know are gone: its first state is complete.
func TestWatcherTakesUpARestartedRecommender(t *testing.T) {
	s := recommendertest.Start(t)
	s.Recommend(cart, 12, 1)
	s.Recommend(catalogue, 6, 1)
	w, _ := follow(t, s, "")
	eventually(t, "the answers", func() bool { return len(w.Latest().Sizes) == 2 })
	s.Stop()
	eventually(t, "the loss", func() bool { return !w.Latest().Reachable() })
	s.Forget()
	s.Recommend(cart, 16, 2)
	s.Listen(t)
	eventually(t, "the new state", func() bool { return target(w, cart) == 16 && len(w.Latest().Sizes) == 1 })
}

func TestWatcherListsOnce(t *testing.T) {
	s := recommendertest.Start(t)
	s.Recommend(cart, 12, 1)
	connection, err := grpc.NewClient(s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	w := watch.NewWatcher(poolsv1.NewPoolSizeServiceClient(connection), "", time.Second, slog.New(slog.DiscardHandler))
	if w.Latest().Reachable() {
		t.Error("reachable before it was asked")
	}
	s.Recommend(catalogue, 7, 1) // on a page of its own
	if err := w.List(t.Context()); err != nil || target(w, cart) != 12 || target(w, catalogue) != 7 || len(s.Watches()) != 0 {
		t.Errorf("error %v, cart %d, %d watches", err, target(w, cart), len(s.Watches()))
	}
	s.Stop()
	if err := w.List(t.Context()); err == nil || w.Latest().Reachable() || target(w, cart) != 12 {
		t.Errorf("error %v, reachable %t, cart %d", err, w.Latest().Reachable(), target(w, cart))
	}
}
