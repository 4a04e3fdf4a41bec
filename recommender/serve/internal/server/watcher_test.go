package server_test

import (
	"context"
	"testing"
	"time"

	"sluice.dev/serve/internal/keys"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// watcher is an actuator's state of a watch.
type watcher struct {
	t      *testing.T
	stream poolsv1.PoolSizeService_WatchPoolSizesClient
	cancel func()
	sizes  map[keys.Pool]*poolsv1.PoolSize
	token  string
	// answers counts decisions since the last call of until.
	answers    int
	snapshots  int
	resumption commonv1.Resumption
	beat       *poolsv1.WatchPoolSizesResponse
}

func (r *running) watch(t *testing.T, request *poolsv1.WatchPoolSizesRequest) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := r.client.WatchPoolSizes(ctx, request)
	must(t, err)
	return &watcher{t: t, stream: stream, cancel: cancel, sizes: map[keys.Pool]*poolsv1.PoolSize{}}
}

// resume continues at another server with the present state.
func (w *watcher) resume(at *running, request *poolsv1.WatchPoolSizesRequest) *watcher {
	w.t.Helper()
	w.cancel()
	request.ResumeToken = w.token
	next := at.watch(w.t, request)
	next.sizes, next.token = w.sizes, w.token
	return next
}

// take processes one event, and fails on any event that a watch must not send. Patience is that of one event: a watch may be
// open for longer.
func (w *watcher) take() {
	w.t.Helper()
	impatient := time.AfterFunc(patience, w.cancel)
	event, err := w.stream.Recv()
	impatient.Stop()
	if err != nil {
		w.t.Fatal(err)
	}
	if size := event.GetPoolSize(); size != nil {
		pool := keys.PoolOf(size.GetPool())
		if before := w.sizes[pool]; before != nil && before.GetRevision() > size.GetRevision() {
			w.t.Fatalf("%s went backwards: %d after %d", pool, size.GetRevision(), before.GetRevision())
		}
		if event.GetResumeToken() != "" {
			w.t.Fatal("a token in the middle of a transaction")
		}
		w.sizes[pool] = size
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
	w.beat = event
}

// until reads to the first heartbeat at which holds is true.
func (w *watcher) until(holds func() bool) *watcher {
	w.t.Helper()
	w.answers = 0
	for w.beat = nil; w.beat == nil || !holds(); {
		w.beat = nil
		for w.beat == nil {
			w.take()
		}
	}
	return w
}

func (w *watcher) awaitSnapshot() *watcher {
	w.t.Helper()
	return w.until(func() bool { return true })
}

// at waits for a revision.
func (w *watcher) at(pool keys.Pool, revision uint64) *watcher {
	w.t.Helper()
	return w.until(func() bool { return w.sizes[pool].GetRevision() >= revision })
}
