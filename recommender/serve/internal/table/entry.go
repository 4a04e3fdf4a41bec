package table

import "sync/atomic"

// Entry is one record. It does not change, except for superseded.
type Entry[K Key[K], V any] struct {
	Key    K
	Shard  int32
	Offset int64
	// Publication is the record's publication, without the fields that servers set. Nobody changes it.
	Publication V
	// Deleted is true for a deleted publication.
	Deleted bool
	// tombstone is true for a record without a value. The entry stays, so that watchers learn of the removal.
	tombstone bool
	// superseded is the offset of the record that replaced this one; -1 while there is none.
	superseded atomic.Int64
	derived    atomic.Pointer[derived]
}

// derived is a value derived from an entry for its watchers, with the lease of that time.
type derived struct {
	lease *Lease
	value any
}

func newEntry[K Key[K], V any](key K, shard int32, offset int64, publication V, deleted bool) *Entry[K, V] {
	e := &Entry[K, V]{Key: key, Shard: shard, Offset: offset, Publication: publication, Deleted: deleted}
	e.superseded.Store(-1)
	return e
}

// Newest is true if no record before position replaced the entry.
func (e *Entry[K, V]) Newest(position int64) bool {
	successor := e.superseded.Load()
	return successor < 0 || successor >= position
}

// Derived returns derive's value of the entry; derive runs once for each lease, for all watchers.
func (e *Entry[K, V]) Derived(lease *Lease, derive func() any) any {
	if last := e.derived.Load(); last != nil && last.lease == lease {
		return last.value
	}
	next := &derived{lease, derive()}
	e.derived.Store(next)
	return next.value
}
