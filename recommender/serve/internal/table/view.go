package table

import (
	"sync"
	"time"
)

// Shard is one shard as of its newest heartbeat. It does not change.
type Shard[K Key[K], V any] struct {
	Number int32
	// Position is the offset after the heartbeat.
	Position int64
	// Lease is nil before the first heartbeat.
	Lease *Lease
	// order has the newest entry of every key, ordered by offset. It may also have some older entries.
	order  []*Entry[K, V]
	live   int
	recent *recentEntries[K, V]
}

// Since calls f with each newest entry that was written at offset or later, in the journal's order, until f returns false.
func (s *Shard[K, V]) Since(offset int64, f func(*Entry[K, V]) bool) {
	for _, e := range s.order[s.first(offset):] {
		if e.Newest(s.Position) && !f(e) {
			return
		}
	}
}

// View is all shards together. It does not change; another view replaces it.
type View[K Key[K], V any] struct {
	Topic  Topic
	Shards []*Shard[K, V]
	At     time.Time
	// Tick is true for a view without a publication, that only gives watchers an event.
	Tick bool
	next chan struct{}

	// Kept has values derived from the view once for many watchers.
	Kept sync.Map
}

// Topic is the id that Kafka gave the journal's topic at its creation.
type Topic [16]byte

// Next is closed once another view replaced this one.
func (v *View[K, V]) Next() <-chan struct{} { return v.next }

// ComputedAt is the newest period of all shards; the zero time before the first heartbeat.
func (v *View[K, V]) ComputedAt() (newest time.Time) {
	for _, s := range v.Shards {
		if s.Lease != nil && s.Lease.ComputedAt.After(newest) {
			newest = s.Lease.ComputedAt
		}
	}
	return newest
}
