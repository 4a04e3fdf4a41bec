package server_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/serve/internal/keys"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// watchEvent is an event of a watch.
type watchEvent interface {
	comparable
	GetResumeToken() string
	GetSnapshot() *commonv1.Snapshot
}

// stateWatcher is a client's state of a watch of publications V by key K, with events E and requests R.
type stateWatcher[K comparable, V interface{ GetRevision() uint64 }, E watchEvent, R any] struct {
	t      *testing.T
	recv   func() (E, error)
	cancel func()
	// publication returns that of an event; false for a snapshot or a heartbeat.
	publication func(E) (K, V, bool)
	open        func(server *running, request R, token string) *stateWatcher[K, V, E, R]
	state       map[K]V
	token       string
	// answers counts publications since the last call of until.
	answers    int
	snapshots  int
	resumption commonv1.Resumption
	heartbeat  E
}

// watcher watches pools, as an actuator does; connections watches subsets.
type (
	watcher     = stateWatcher[keys.Pool, *poolsv1.PoolSize, *poolsv1.WatchPoolSizesResponse, *poolsv1.WatchPoolSizesRequest]
	connections = stateWatcher[keys.Subset, *subsetsv1.Subset, *subsetsv1.WatchSubsetsResponse, *subsetsv1.WatchSubsetsRequest]
)

func (r *running) watch(t *testing.T, request *poolsv1.WatchPoolSizesRequest) *watcher {
	t.Helper()
	w := opened(t, r.client.WatchPoolSizes, request, func(event *poolsv1.WatchPoolSizesResponse) (keys.Pool, *poolsv1.PoolSize, bool) {
		size := event.GetPoolSize()
		return keys.PoolOf(size.GetPool()), size, size != nil
	})
	w.open = func(server *running, request *poolsv1.WatchPoolSizesRequest, token string) *watcher {
		request.ResumeToken = token
		return server.watch(t, request)
	}
	return w
}

func (r *running) connections(t *testing.T, request *subsetsv1.WatchSubsetsRequest) *connections {
	t.Helper()
	w := opened(t, r.subsets.WatchSubsets, request, func(event *subsetsv1.WatchSubsetsResponse) (keys.Subset, *subsetsv1.Subset, bool) {
		subset := event.GetSubset()
		return keys.SubsetOf(subset.GetKey()), subset, subset != nil
	})
	w.open = func(server *running, request *subsetsv1.WatchSubsetsRequest, token string) *connections {
		request.ResumeToken = token
		return server.connections(t, request)
	}
	return w
}

func opened[K comparable, V interface{ GetRevision() uint64 }, E watchEvent, R any, S interface{ Recv() (E, error) }](
	t *testing.T, call func(context.Context, R, ...grpc.CallOption) (S, error), request R, publication func(E) (K, V, bool),
) *stateWatcher[K, V, E, R] {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := call(ctx, request)
	must(t, err)
	return &stateWatcher[K, V, E, R]{t: t, recv: stream.Recv, cancel: cancel, publication: publication, state: map[K]V{}}
}

// resume continues at another server with the present state.
func (w *stateWatcher[K, V, E, R]) resume(server *running, request R) *stateWatcher[K, V, E, R] {
	w.t.Helper()
	w.cancel()
	next := w.open(server, request, w.token)
	next.state, next.token = w.state, w.token
	return next
}

// take processes one event, and fails on any event that a watch must not send. Patience is that of one event: a watch may be
// open for longer.
func (w *stateWatcher[K, V, E, R]) take() {
	w.t.Helper()
	impatient := time.AfterFunc(patience, w.cancel)
	event, err := w.recv()
	impatient.Stop()
	if err != nil {
		w.t.Fatal(err)
	}
	if key, publication, ok := w.publication(event); ok {
		if before, known := w.state[key]; known && before.GetRevision() > publication.GetRevision() {
			w.t.Fatalf("%v went backwards: %d after %d", key, publication.GetRevision(), before.GetRevision())
		}
		if event.GetResumeToken() != "" {
			w.t.Fatal("a token in the middle of a transaction")
		}
		w.state[key] = publication
		w.answers++
		return
	}
	w.token = event.GetResumeToken()
	if w.token == "" {
		w.t.Fatalf("no token: %v", event)
	}
	if snapshot := event.GetSnapshot(); snapshot != nil {
		if int(snapshot.GetAnswers()) != w.answers {
			w.t.Fatalf("a snapshot of %d came with %d", snapshot.GetAnswers(), w.answers)
		}
		w.snapshots++
		w.resumption = snapshot.GetResumption()
		return
	}
	w.heartbeat = event
}

// until reads to the first heartbeat at which holds is true.
func (w *stateWatcher[K, V, E, R]) until(holds func() bool) *stateWatcher[K, V, E, R] {
	w.t.Helper()
	w.answers = 0
	for first := true; first || !holds(); first = false {
		w.awaitHeartbeat()
	}
	return w
}

func (w *stateWatcher[K, V, E, R]) awaitHeartbeat() {
	w.t.Helper()
	var none E
	for w.heartbeat = none; w.heartbeat == none; {
		w.take()
	}
}

func (w *stateWatcher[K, V, E, R]) awaitSnapshot() *stateWatcher[K, V, E, R] {
	w.t.Helper()
	return w.until(func() bool { return true })
}

// at waits for a revision.
func (w *stateWatcher[K, V, E, R]) at(key K, revision uint64) *stateWatcher[K, V, E, R] {
	w.t.Helper()
	return w.until(func() bool {
		publication, known := w.state[key]
		return known && publication.GetRevision() >= revision
	})
}
