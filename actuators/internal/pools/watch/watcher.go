package watch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Watcher follows WatchPoolSizes.
type Watcher struct {
	client  poolsv1.PoolSizeServiceClient
	timeout time.Duration
	log     *slog.Logger

	// state is for the one receiving goroutine.
	state *state

	mu         sync.Mutex
	service    string
	restart    context.CancelFunc // of the present watch; nil before Run
	latest     Snapshot
	superseded chan struct{}
}

// NewWatcher returns a Watcher without decisions yet. It requests one service, or all when it is empty; timeout bounds List.
func NewWatcher(client poolsv1.PoolSizeServiceClient, service string, timeout time.Duration, log *slog.Logger) *Watcher {
	superseded := make(chan struct{})
	return &Watcher{
		client: client, service: service, timeout: timeout, log: log, state: newState(),
		superseded: superseded, latest: Snapshot{Superseded: superseded},
	}
}

// Select requests another service from now on, or all when it is empty. The last good decisions stay until its first ones.
func (w *Watcher) Select(service string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if service == w.service {
		return
	}
	w.service = service
	if w.restart != nil {
		w.restart()
	}
}

// selected returns the service to request, and a context that ends when another one is selected.
func (w *Watcher) selected(ctx context.Context) (string, context.Context, context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	watching, stop := context.WithCancel(ctx)
	w.restart = stop
	return w.service, watching, stop
}

// Run implements Source.
func (w *Watcher) Run(ctx context.Context) {
	for ctx.Err() == nil {
		service, watching, stop := w.selected(ctx)
		w.state.Token = "" // one of another service means nothing
		w.watch(watching, service)
		stop()
	}
}

func (w *Watcher) watch(ctx context.Context, service string) {
	reconcile.Stream[*poolsv1.WatchPoolSizesResponse]{
		Open: func(ctx context.Context) (reconcile.Receiver[*poolsv1.WatchPoolSizesResponse], error) {
			w.state.Restart()
			return w.client.WatchPoolSizes(ctx, &poolsv1.WatchPoolSizesRequest{Service: service, ResumeToken: w.state.Token})
		},
		Take: func(event *poolsv1.WatchPoolSizesResponse) (bool, error) {
			whole, err := w.state.apply(event)
			if whole {
				w.received(Snapshot{Sizes: w.state.Answers, Lease: w.state.lease})
			}
			return whole, err
		},
		Lost:   func(err error) { w.failed(fmt.Errorf("watch pool sizes: %w", err)) },
		Forget: func() { w.state.Token = "" },
	}.Run(ctx)
}

// List requests all decisions, page by page, without a stream. On an error the last good decisions stay.
func (w *Watcher) List(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	var sizes []*poolsv1.PoolSize
	w.mu.Lock()
	service := w.service
	w.mu.Unlock()
	for request := (&poolsv1.ListPoolSizesRequest{Service: service}); ; {
		page, err := w.client.ListPoolSizes(call, request)
		if err != nil {
			err = fmt.Errorf("list pool sizes: %w", err)
			w.failed(err)
			return err
		}
		sizes = append(sizes, page.GetPoolSizes()...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	w.received(Snapshot{Sizes: w.state.With(nil, sizes)})
	return nil
}

// Latest implements Source.
func (w *Watcher) Latest() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest
}

func (w *Watcher) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest.Err == nil {
		w.log.Warn("cannot reach the recommender: sizes in force stay", "error", err)
	}
	w.latest.Err = err
}

func (w *Watcher) received(now Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.latest.Reachable() {
		w.log.Info("recommender reached", "pools", len(now.Sizes))
	}
	news := !sameRevisions(w.latest.Sizes, now.Sizes)
	before := w.superseded
	if news {
		w.superseded = make(chan struct{})
	}
	now.ReceivedAt, now.Superseded = time.Now(), w.superseded
	w.latest = now
	if news {
		close(before)
	}
}
