package watch

import (
	"sync/atomic"
	"time"

	"sluice.dev/serve/internal/table"
)

const (
	// reuseFor bounds the reuse of an encoded heartbeat: the rest of the lease in it gets out of date.
	reuseFor = 200 * time.Millisecond
	// mostKept bounds the filters whose heartbeats a view keeps, because callers choose filters freely.
	mostKept = 256
)

type keptHeartbeat struct {
	at    time.Time
	frame *Frame
}

type keptCount struct{ count atomic.Int32 }

type countKey struct{}

// heartbeat is the heartbeat of a view, encoded once for all watchers with the same filter and position.
func (w *Watch[K, V]) heartbeat(view *table.View[K, V], now time.Time) *Frame {
	if kept, ok := view.Kept.Load(w.heartbeatKey); ok && now.Sub(kept.(*keptHeartbeat).at) < reuseFor {
		return kept.(*keptHeartbeat).frame
	}
	encoded := &keptHeartbeat{now, w.Encoder.heartbeat(w.filterShardsOnce(view), w.Filter, w.token(view, now).String(), now)}
	counter, _ := view.Kept.LoadOrStore(countKey{}, &keptCount{})
	if _, known := view.Kept.Load(w.heartbeatKey); known || counter.(*keptCount).count.Add(1) <= mostKept {
		view.Kept.Store(w.heartbeatKey, encoded)
	}
	return encoded.frame
}

func (w *Watch[K, V]) token(view *table.View[K, V], now time.Time) Token {
	token := Token{Topic: view.Topic, At: now, Filter: w.Filter.ID, Offsets: make([]int64, len(view.Shards))}
	for i, shard := range view.Shards {
		token.Offsets[i] = shard.Position
	}
	return token
}

type shardsKey uint64

// filterShardsOnce are the shards of the filter's records, or all for a filter without groups. As heartbeats, they are looked
// up once for a view.
func (w *Watch[K, V]) filterShardsOnce(view *table.View[K, V]) []*table.Shard[K, V] {
	if w.Filter.All() || len(view.Shards) == 1 {
		return view.Shards
	}
	if kept, ok := view.Kept.Load(w.shardsKey); ok {
		return kept.([]*table.Shard[K, V])
	}
	shards := w.filterShards(view)
	if _, known := view.Kept.Load(w.heartbeatKey); known { // few filters are kept, so few of these lists, too
		view.Kept.Store(w.shardsKey, shards)
	}
	return shards
}

func (w *Watch[K, V]) filterShards(view *table.View[K, V]) []*table.Shard[K, V] {
	numbers := w.Table.ShardsOf(w.Filter.fullGroups, w.Filter.singles)
	if len(numbers) == 0 {
		return view.Shards
	}
	shards := make([]*table.Shard[K, V], len(numbers))
	for i, number := range numbers {
		shards[i] = view.Shards[number]
	}
	return shards
}
