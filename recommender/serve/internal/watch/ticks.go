package watch

import (
	"context"
	"time"

	"sluice.dev/serve/internal/table"
)

// Every is how often a watcher hears something, whatever is published.
const Every = 10 * time.Second

// Tick wakes the watchers of t while nothing is published: now and then, and when a lease ends. It returns with ctx, or
// when t is closed.
func Tick(ctx context.Context, t *table.Table, every time.Duration) {
	for {
		view := t.View()
		timer := time.NewTimer(due(view, time.Now(), every))
		select {
		case <-timer.C:
			t.Tick()
		case <-view.Next():
		case <-t.Closed():
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// due is how long after now watchers of view are to hear something, if nothing comes before.
func due(view *table.View, now time.Time, every time.Duration) time.Duration {
	wait := max(0, view.At.Add(every).Sub(now))
	for _, shard := range view.Shards {
		if shard.Lease == nil {
			continue
		}
		if left := shard.Lease.Left(now); left > 0 {
			wait = min(wait, left+time.Millisecond)
		}
	}
	return wait
}
