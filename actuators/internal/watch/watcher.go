package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	firstBackoff = 500 * time.Millisecond
	// maxBackoff bounds how long a recommender that is back may go unnoticed.
	maxBackoff = 10 * time.Second
	// maxSilence is two and a half of the recommender's heartbeats, which come every 10 s whatever it computes.
	maxSilence = 25 * time.Second
)

// Watcher follows WatchPoolSizes. A stream that breaks, or on which nothing comes for 25 s, is resumed where it was,
// after a pause that grows from 0.5 s to 10 s, each time by half of itself more or less, so that the actuators of a
// recommender that was restarted do not come back all at once.
type Watcher struct {
	client  poolsv1.PoolSizeServiceClient
	service string
	timeout time.Duration
	log     *slog.Logger

	// state is for the one goroutine that receives.
	state state

	mu         sync.Mutex
	latest     Snapshot
	superseded chan struct{}
}

// NewWatcher returns a Watcher that has no answers yet. It asks for one service, or for all when it is empty; timeout
// bounds List.
func NewWatcher(client poolsv1.PoolSizeServiceClient, service string, timeout time.Duration, log *slog.Logger) *Watcher {
	superseded := make(chan struct{})
	return &Watcher{
		client: client, service: service, timeout: timeout, log: log,
		superseded: superseded, latest: Snapshot{Superseded: superseded},
	}
}

// Run implements Source.
func (w *Watcher) Run(ctx context.Context) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = firstBackoff, maxBackoff
	for {
		received, err := w.follow(ctx)
		if ctx.Err() != nil {
			return // it is this process that stops
		}
		w.failed(fmt.Errorf("watch pool sizes: %w", err))
		if received {
			retry.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry.NextBackOff()):
		}
	}
}

// follow reads one stream to its end, which always has a cause. received: at least one batch came whole.
func (w *Watcher) follow(ctx context.Context) (received bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(fmt.Errorf("nothing came for %s", maxSilence)) })
	defer silence.Stop()

	w.state.restart()
	stream, err := w.client.WatchPoolSizes(ctx, &poolsv1.WatchPoolSizesRequest{Service: w.service, ResumeToken: w.state.token})
	for err == nil {
		var event *poolsv1.WatchPoolSizesResponse
		if event, err = stream.Recv(); err != nil {
			break
		}
		silence.Reset(maxSilence)
		var whole bool
		if whole, err = w.state.apply(event); whole {
			received = true
			w.received(Snapshot{Sizes: w.state.sizes, Lease: w.state.lease})
		}
	}
	switch {
	case context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.EOF):
		err = errors.New("the recommender ended the stream")
	case status.Code(err) == codes.InvalidArgument:
		w.state.token = "" // the one thing in a request that the next attempt can do without
	}
	return received, err
}

// List asks once for everything, page by page, without a stream. On an error the last good answers stay.
func (w *Watcher) List(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	var sizes []*poolsv1.PoolSize
	for request := (&poolsv1.ListPoolSizesRequest{Service: w.service}); ; {
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
	w.received(Snapshot{Sizes: with(nil, sizes)})
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
		w.log.Warn("cannot reach the recommender: sizes in place stay", "error", err)
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
