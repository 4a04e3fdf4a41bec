package watch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
	"sluice.dev/actuators/internal/pool"
)

// maxBackoff bounds how long a recommender that is back may go unnoticed.
const maxBackoff = 10 * time.Second

// Poller lists all answers every interval. After a failure it backs off, with jitter, from one interval to
// ten seconds (or one interval, if that is longer).
type Poller struct {
	client   sluicev1.PoolSizeServiceClient
	interval time.Duration
	timeout  time.Duration
	log      *slog.Logger

	mu         sync.Mutex
	latest     Snapshot
	superseded chan struct{}
}

// NewPoller returns a Poller that has no answers yet. timeout bounds each list.
func NewPoller(client sluicev1.PoolSizeServiceClient, interval, timeout time.Duration, log *slog.Logger) *Poller {
	superseded := make(chan struct{})
	return &Poller{
		client: client, interval: interval, timeout: timeout, log: log,
		superseded: superseded, latest: Snapshot{Superseded: superseded},
	}
}

// Run implements Source.
func (p *Poller) Run(ctx context.Context) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval = p.interval
	retry.MaxInterval = max(maxBackoff, p.interval)
	for {
		wait := p.interval
		if err := p.Poll(ctx); err != nil {
			wait = retry.NextBackOff()
		} else {
			retry.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Poll lists once and keeps what it gets. On an error the last good answers stay.
func (p *Poller) Poll(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	response, err := p.client.ListPoolSizes(call, &sluicev1.ListPoolSizesRequest{})
	if err != nil {
		err = fmt.Errorf("list pool sizes: %w", err)
		if ctx.Err() == nil { // otherwise it is this process that stops
			p.failed(err)
		}
		return err
	}
	p.received(response.GetPoolSizes())
	return nil
}

// Latest implements Source.
func (p *Poller) Latest() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

func (p *Poller) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest.Err == nil {
		p.log.Warn("cannot reach the recommender: sizes in place stay", "error", err)
	}
	p.latest.Err = err
}

func (p *Poller) received(answers []*sluicev1.PoolSize) {
	sizes := make(map[pool.Key]*sluicev1.PoolSize, len(answers))
	for _, answer := range answers {
		sizes[pool.FromProto(answer.GetPool())] = answer
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.latest.Reachable() {
		p.log.Info("recommender reached", "pools", len(sizes))
	}
	news := !sameRevisions(p.latest.Sizes, sizes)
	before := p.superseded
	if news {
		p.superseded = make(chan struct{})
	}
	p.latest = Snapshot{Sizes: sizes, ReceivedAt: time.Now(), Superseded: p.superseded}
	if news {
		close(before)
	}
}

// sameRevisions ignores leases, which are renewed all the time.
func sameRevisions(a, b map[pool.Key]*sluicev1.PoolSize) bool {
	if len(a) != len(b) {
		return false
	}
	for key, answer := range a {
		if other, ok := b[key]; !ok || other.GetRevision() != answer.GetRevision() {
			return false
		}
	}
	return true
}
