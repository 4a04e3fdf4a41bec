// Package table holds the newest record of each pool, subset and service, as of the newest heartbeat of its shard.
package table

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Table has one writer, the goroutine that reads the journal; all others read it.
type Table[K Key[K], V any] struct {
	kind Kind[K, V]
	// pending has the records of each shard after its newest heartbeat, published the earlier ones; only the writer uses them.
	pending, published []map[K]*Entry[K, V]
	retention          time.Duration
	now                func() time.Time

	view   atomic.Pointer[View[K, V]]
	closed chan struct{}
	once   sync.Once

	mu sync.RWMutex
	// newest entry of each key, in any shard: a key that is deleted in one shard may exist in another.
	newest map[K]*Entry[K, V]
	// sorted has the keys of newest in the order of lists; nil after a new key.
	sorted []K
	// shards has, for each group, the shards that ever had a record of it.
	shards map[string]map[int32]struct{}
}

// New is an empty table of a topic's shards. It keeps removals for retention.
func New[K Key[K], V any](kind Kind[K, V], topic Topic, shards int, retention time.Duration, now func() time.Time) *Table[K, V] {
	t := &Table[K, V]{
		kind:      kind,
		pending:   make([]map[K]*Entry[K, V], shards),
		published: make([]map[K]*Entry[K, V], shards),
		retention: retention,
		now:       now,
		closed:    make(chan struct{}),
		newest:    map[K]*Entry[K, V]{},
		shards:    map[string]map[int32]struct{}{},
	}
	v := &View[K, V]{Topic: topic, Shards: make([]*Shard[K, V], shards), At: now(), next: make(chan struct{})}
	for i := range v.Shards {
		t.pending[i], t.published[i] = map[K]*Entry[K, V]{}, map[K]*Entry[K, V]{}
		v.Shards[i] = &Shard[K, V]{Number: int32(i), recent: &recentEntries[K, V]{}}
	}
	t.view.Store(v)
	return t
}

// View is the newest view.
func (t *Table[K, V]) View() *View[K, V] { return t.view.Load() }

// Retention is the time for which the table keeps removals, and for which a resume token is valid.
func (t *Table[K, V]) Retention() time.Duration { return t.retention }

// Closed is closed when another topic, and so another table, replaces this one.
func (t *Table[K, V]) Closed() <-chan struct{} { return t.closed }

// Close ends every watch of the table.
func (t *Table[K, V]) Close() {
	t.once.Do(func() { close(t.closed) })
	t.Tick()
}

// Get is the newest entry, nil for a key that has none or was deleted, and its view.
func (t *Table[K, V]) Get(key K) (*Entry[K, V], *View[K, V]) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.newest[key]
	if e != nil && e.Deleted {
		e = nil
	}
	return e, t.view.Load()
}

// Moved is true if another shard has e's key now.
func (t *Table[K, V]) Moved(e *Entry[K, V]) bool {
	if len(t.published) == 1 {
		return false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	newest := t.newest[e.Key]
	return newest != nil && newest.Shard != e.Shard
}

// Page is up to n entries after `after` that keep selects, ordered by key; more is true if further ones follow.
func (t *Table[K, V]) Page(after K, n int, keep func(K) bool) (page []*Entry[K, V], more bool, view *View[K, V]) {
	sorted := t.order()
	t.mu.RLock()
	defer t.mu.RUnlock()
	from, ok := slices.BinarySearchFunc(sorted, after, K.Compare)
	if ok {
		from++
	}
	for _, key := range sorted[from:] {
		e := t.newest[key]
		if e == nil || e.Deleted || !keep(key) {
			continue
		}
		if len(page) == n {
			return page, true, t.view.Load()
		}
		page = append(page, e)
	}
	return page, false, t.view.Load()
}

func (t *Table[K, V]) order() []K {
	t.mu.RLock()
	sorted := t.sorted
	t.mu.RUnlock()
	if sorted != nil {
		return sorted
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sorted == nil {
		t.sorted = make([]K, 0, len(t.newest))
		for key := range t.newest {
			t.sorted = append(t.sorted, key)
		}
		slices.SortFunc(t.sorted, K.Compare)
	}
	return t.sorted
}

// InGroup are the entries of a group.
func (t *Table[K, V]) InGroup(group string) (entries []*Entry[K, V]) {
	sorted := t.order() // it is ordered by group first
	t.mu.RLock()
	defer t.mu.RUnlock()
	from := sort.Search(len(sorted), func(i int) bool { return sorted[i].Group() >= group })
	for _, key := range sorted[from:] {
		if key.Group() != group {
			break
		}
		if e := t.newest[key]; e != nil && !e.Deleted {
			entries = append(entries, e)
		}
	}
	return entries
}

// ShardsOf are the shards that have the groups and the keys, ordered.
func (t *Table[K, V]) ShardsOf(groups []string, keys []K) (numbers []int32) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, group := range groups {
		for number := range t.shards[group] {
			numbers = append(numbers, number)
		}
	}
	for _, key := range keys {
		if e := t.newest[key]; e != nil {
			numbers = append(numbers, e.Shard)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// ShardsWith are the shards with entries that concerned selects, and the number of such entries.
func (t *Table[K, V]) ShardsWith(concerned func(K) bool) (numbers []int32, count int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for key, e := range t.newest {
		if !e.Deleted && concerned(key) {
			numbers, count = append(numbers, e.Shard), count+1
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), count
}
