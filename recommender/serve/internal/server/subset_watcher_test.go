package server_test

import (
	"context"
	"testing"
	"time"

	"sluice.dev/serve/internal/keys"

	commonv1 "sluice.dev/api/common/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// connections is a client's state of a watch of subsets.
type connections struct {
	t          *testing.T
	stream     subsetsv1.SubsetService_WatchSubsetsClient
	cancel     func()
	subsets    map[keys.Subset]*subsetsv1.Subset
	token      string
	answers    int
	snapshots  int
	resumption commonv1.Resumption
	beat       *commonv1.Heartbeat
}

func (r *running) connections(t *testing.T, request *subsetsv1.WatchSubsetsRequest) *connections {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := r.subsets.WatchSubsets(ctx, request)
	must(t, err)
	return &connections{t: t, stream: stream, cancel: cancel, subsets: map[keys.Subset]*subsetsv1.Subset{}}
}

// resume continues at another server with the present state.
func (w *connections) resume(at *running, request *subsetsv1.WatchSubsetsRequest) *connections {
	w.t.Helper()
	w.cancel()
	request.ResumeToken = w.token
	next := at.connections(w.t, request)
	next.subsets, next.token = w.subsets, w.token
	return next
}

// take processes one event, and fails on any event that a watch must not send.
func (w *connections) take() {
	w.t.Helper()
	impatient := time.AfterFunc(patience, w.cancel)
	event, err := w.stream.Recv()
	impatient.Stop()
	if err != nil {
		w.t.Fatal(err)
	}
	if subset := event.GetSubset(); subset != nil {
		key := keys.SubsetOf(subset.GetKey())
		if before := w.subsets[key]; before.GetRevision() > subset.GetRevision() {
			w.t.Fatalf("%s went backwards: %d after %d", key, subset.GetRevision(), before.GetRevision())
		}
		w.subsets[key] = subset
		w.answers++
		return
	}
	if w.token = event.GetResumeToken(); w.token == "" {
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
	w.beat = event.GetHeartbeat()
}

// until reads to the first heartbeat at which holds is true.
func (w *connections) until(holds func() bool) *connections {
	w.t.Helper()
	w.answers = 0
	for w.beat = nil; w.beat == nil || !holds(); {
		for w.beat = nil; w.beat == nil; {
			w.take()
		}
	}
	return w
}

func (w *connections) awaitSnapshot() *connections {
	w.t.Helper()
	return w.until(func() bool { return true })
}
