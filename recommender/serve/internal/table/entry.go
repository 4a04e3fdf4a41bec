package table

import "sync/atomic"

// Entry is one record. It does not change, except for superseded.
type Entry[K Key[K], V any] struct {
	Key    K
	Shard  int32
	Offset int64
	// Answer is the record's publication, without the fields that the log does not decide. Nobody changes it.
	Answer V
	// Deleted is true where the publication was deleted.
	Deleted bool
	// forgotten: the record had no value. It stays as a deleted one, so that watchers are notified.
	forgotten bool
	// superseded is the offset of the record that replaced this one; -1 while there is none.
	superseded atomic.Int64
	made       atomic.Pointer[made]
}

// made is a value that was derived from an entry for its watchers, with the lease of that time.
type made struct {
	lease *Lease
	what  any
}

func newEntry[K Key[K], V any](key K, shard int32, offset int64, answer V, deleted bool) *Entry[K, V] {
	e := &Entry[K, V]{Key: key, Shard: shard, Offset: offset, Answer: answer, Deleted: deleted}
	e.superseded.Store(-1)
	return e
}

// Newest is true where no record before position replaced the entry.
func (e *Entry[K, V]) Newest(position int64) bool {
	by := e.superseded.Load()
	return by < 0 || by >= position
}

// Made returns the value that `it` derives from the entry; it runs once for each lease, for all watchers.
func (e *Entry[K, V]) Made(lease *Lease, it func() any) any {
	if last := e.made.Load(); last != nil && last.lease == lease {
		return last.what
	}
	next := &made{lease, it()}
	e.made.Store(next)
	return next.what
}
