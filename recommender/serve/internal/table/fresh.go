package table

import (
	"sort"
	"sync"
)

// fresh is what the newest heartbeat of a shard brought, by group: 10,000 watchers of a service each would otherwise look
// at what 10,000 pools say. It is made when the first of them asks.
type fresh[K Key[K], V any] struct {
	// before is the shard's position until then.
	before int64
	once   sync.Once
	of     map[string][]*Entry[K, V]
}

// SinceOf is as Since, for a caller who wants no other groups than these. Their order is that of the log within each.
func (s *Shard[K, V]) SinceOf(groups []string, offset int64, f func(*Entry[K, V]) bool) {
	if offset != s.fresh.before {
		s.Since(offset, f) // a watcher that was slow, or resumes
		return
	}
	s.fresh.once.Do(func() {
		s.fresh.of = map[string][]*Entry[K, V]{}
		for _, e := range s.order[s.first(offset):] {
			group := e.Key.Group()
			s.fresh.of[group] = append(s.fresh.of[group], e)
		}
	})
	for _, group := range groups {
		for _, e := range s.fresh.of[group] {
			if e.Newest(s.Position) && !f(e) {
				return
			}
		}
	}
}

// first is where entries begin that were written at offset or later.
func (s *Shard[K, V]) first(offset int64) int {
	return sort.Search(len(s.order), func(i int) bool { return s.order[i].Offset >= offset })
}
