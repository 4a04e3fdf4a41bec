package table

import (
	"sort"
	"sync"
)

// recentEntries has the entries of a shard's newest heartbeat, by group. Without it each of 10,000 watchers of a service would
// look at the entries of 10,000 pools. The first watcher that needs it fills it.
type recentEntries[K Key[K], V any] struct {
	// position is the shard's position before that heartbeat.
	position int64
	once     sync.Once
	byGroup  map[string][]*Entry[K, V]
}

// SinceOf is Since for some groups. Within each group the order is that of the journal.
func (s *Shard[K, V]) SinceOf(groups []string, offset int64, f func(*Entry[K, V]) bool) {
	if offset != s.recent.position {
		s.Since(offset, f) // a slow or resuming watcher
		return
	}
	s.recent.once.Do(func() {
		s.recent.byGroup = map[string][]*Entry[K, V]{}
		for _, e := range s.order[s.first(offset):] {
			group := e.Key.Group()
			s.recent.byGroup[group] = append(s.recent.byGroup[group], e)
		}
	})
	for _, group := range groups {
		for _, e := range s.recent.byGroup[group] {
			if e.Newest(s.Position) && !f(e) {
				return
			}
		}
	}
}

// first is the index of the first entry that was written at offset or later.
func (s *Shard[K, V]) first(offset int64) int {
	return sort.Search(len(s.order), func(i int) bool { return s.order[i].Offset >= offset })
}
