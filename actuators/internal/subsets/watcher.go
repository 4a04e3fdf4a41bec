package subsets

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/reconcile"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Snapshot is the state of one caller's subsets at one instant. It is shared and never changed.
type Snapshot struct {
	// Answers are the last subsets received, by called service, also when the recommender was lost since.
	Answers map[string]*subsetsv1.Subset
	// Superseded is closed when other subsets were received.
	Superseded <-chan struct{}
}

// Watcher follows WatchSubsets for one caller: a container of a service.
type Watcher struct {
	client             subsetsv1.SubsetServiceClient
	upstream, instance string
	log                *slog.Logger

	// feed is for the one receiving goroutine. Its key is the called service.
	feed reconcile.Feed[string, *subsetsv1.Subset]

	mu         sync.Mutex
	answers    map[string]*subsetsv1.Subset
	superseded chan struct{}
	lost       error
}

// NewWatcher returns a Watcher without subsets yet.
func NewWatcher(client subsetsv1.SubsetServiceClient, upstream, instance string, log *slog.Logger) *Watcher {
	return &Watcher{client: client, upstream: upstream, instance: instance, log: log.With("upstream", upstream, "instance", instance),
		superseded: make(chan struct{}),
		feed:       reconcile.Feed[string, *subsetsv1.Subset]{Key: func(s *subsetsv1.Subset) string { return s.GetKey().GetDownstream() }}}
}

// Run receives until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	reconcile.Stream[*subsetsv1.WatchSubsetsResponse]{
		Open: func(ctx context.Context) (reconcile.Receiver[*subsetsv1.WatchSubsetsResponse], error) {
			w.feed.Restart()
			return w.client.WatchSubsets(ctx, &subsetsv1.WatchSubsetsRequest{Upstream: w.upstream, Instance: w.instance, ResumeToken: w.feed.Token})
		},
		Take: w.take, Lost: w.failed, Forget: func() { w.feed.Token = "" },
	}.Run(ctx)
}

// take processes one event. Subsets count once their snapshot or heartbeat was received.
func (w *Watcher) take(event *subsetsv1.WatchSubsetsResponse) (whole bool, err error) {
	switch event.GetEvent().(type) {
	case *subsetsv1.WatchSubsetsResponse_Subset:
		w.feed.Add(event.GetSubset())
		return false, nil
	case *subsetsv1.WatchSubsetsResponse_Snapshot:
		if err := w.feed.Snapshot(event.GetSnapshot().GetAnswers(), event.GetResumeToken()); err != nil {
			return false, err
		}
	case *subsetsv1.WatchSubsetsResponse_Heartbeat:
		w.feed.Heartbeat(event.GetResumeToken())
	default:
		return false, nil // an event from a later version of the API
	}
	w.received(w.feed.Answers)
	return true, nil
}

// received publishes subsets.
func (w *Watcher) received(answers map[string]*subsetsv1.Subset) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost != nil || w.answers == nil {
		w.log.Info("receiving subsets", "answers", len(answers))
	}
	news := !maps.EqualFunc(w.answers, answers, func(a, b *subsetsv1.Subset) bool {
		return a.GetRevision() == b.GetRevision() && a.GetState() == b.GetState()
	})
	w.answers, w.lost = answers, nil
	if news {
		close(w.superseded)
		w.superseded = make(chan struct{})
	}
}

func (w *Watcher) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.log.Warn("cannot watch subsets: those in force stay", "error", err)
	}
	w.lost = err
}

// Latest returns at once, whatever the recommender does.
func (w *Watcher) Latest() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Snapshot{Answers: w.answers, Superseded: w.superseded}
}

// Get requests one subset; nil where the recommender has none.
func Get(ctx context.Context, client subsetsv1.SubsetServiceClient, key *subsetsv1.SubsetKey, timeout time.Duration) (*subsetsv1.Subset, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := client.GetSubset(ctx, &subsetsv1.GetSubsetRequest{Key: key})
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	return response.GetSubset(), err
}
