package watch

import (
	"sync/atomic"
	"time"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	// fresh is how long a heartbeat may be given out as it was made: what is left of a lease falls meanwhile.
	fresh = 200 * time.Millisecond
	// mostKept bounds how many filters' heartbeats a view keeps: callers choose filters freely.
	mostKept = 256
)

type beat struct {
	at    time.Time
	frame *Frame
}

type beats struct{ count atomic.Int32 }

type countKey struct{}

// beatOf is the heartbeat of a view under a filter, made once for all watchers that are as far.
func beatOf(t *table.Table, view *table.View, filter *Filter, now time.Time) *Frame {
	if kept, ok := view.Kept.Load(filter.ID); ok && now.Sub(kept.(*beat).at) < fresh {
		return kept.(*beat).frame
	}
	made := &beat{now, heartbeat(t, view, filter, tokenOf(view, filter, now).String(), now)}
	counted, _ := view.Kept.LoadOrStore(countKey{}, &beats{})
	if _, known := view.Kept.Load(filter.ID); known || counted.(*beats).count.Add(1) <= mostKept {
		view.Kept.Store(filter.ID, made)
	}
	return made.frame
}

func tokenOf(view *table.View, filter *Filter, now time.Time) Token {
	token := Token{Topic: view.Topic, At: now, Filter: filter.ID, Offsets: make([]int64, len(view.Shards))}
	for i, shard := range view.Shards {
		token.Offsets[i] = shard.Position
	}
	return token
}

type shardsKey uint64

// relevant are the shards that a filter leads to, all where it leads to none; looked up once for a view, as heartbeats.
func relevant(t *table.Table, view *table.View, filter *Filter) []*table.Shard {
	if filter.All() {
		return view.Shards
	}
	if kept, ok := view.Kept.Load(shardsKey(filter.ID)); ok {
		return kept.([]*table.Shard)
	}
	shards := lookUp(t, view, filter)
	if _, known := view.Kept.Load(filter.ID); known { // few filters are kept, so few of these
		view.Kept.Store(shardsKey(filter.ID), shards)
	}
	return shards
}

func lookUp(t *table.Table, view *table.View, filter *Filter) []*table.Shard {
	numbers := t.ShardsOf(filter.services, filter.pools)
	if len(numbers) == 0 {
		return view.Shards
	}
	shards := make([]*table.Shard, len(numbers))
	for i, number := range numbers {
		shards[i] = view.Shards[number]
	}
	return shards
}

func poolOf(each *poolsv1.NotRenewed) keys.Pool { return keys.Of(each.GetPool()) }
