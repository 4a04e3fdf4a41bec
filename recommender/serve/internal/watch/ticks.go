package watch

import (
	"context"
	"sync"
	"time"

	"sluice.dev/serve/internal/table"
)

// EventInterval is the longest time between two events of a watcher.
const EventInterval = 10 * time.Second

// Ticks runs Tick for pools and subsets. It returns with ctx, or when the tables are closed.
func Ticks(ctx context.Context, tables *table.Tables, every time.Duration) {
	var both sync.WaitGroup
	both.Go(func() { Tick(ctx, tables.Pools, every) })
	both.Go(func() { Tick(ctx, tables.Subsets, every) })
	both.Wait()
}

// Tick sends events to the watchers of t while nothing is published: every `every`, and when a lease ends. It returns with
// ctx, or when t is closed.
func Tick[K table.Key[K], V any](ctx context.Context, t *table.Table[K, V], every time.Duration) {
	for {
		view := t.View()
		timer := time.NewTimer(untilEvent(view, time.Now(), every))
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

// untilEvent is the time from now to the next event of view's watchers without a publication.
func untilEvent[K table.Key[K], V any](view *table.View[K, V], now time.Time, every time.Duration) time.Duration {
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
