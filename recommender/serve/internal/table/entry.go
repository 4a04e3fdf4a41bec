package table

import "sync/atomic"

// Entry is one record. It does not change but for what took its place.
type Entry[K Key[K], V any] struct {
	Key    K
	Shard  int32
	Offset int64
	// Answer is the record's value, without what of it is not the log's to say. Nobody changes it.
	Answer V
	// Deleted tells whether it says that there is no answer any more.
	Deleted bool
	// forgotten: the record had no value. It stays as a deleted one, so that watchers hear of it.
	forgotten bool
	// superseded is the offset of the record that took this one's place; -1 while none has.
	superseded atomic.Int64
	made       atomic.Pointer[made]
}

// made is what was made of an entry for its watchers, with the lease that it had then.
type made struct {
	lease *Lease
	what  any
}

func newEntry[K Key[K], V any](key K, shard int32, offset int64, answer V, deleted bool) *Entry[K, V] {
	e := &Entry[K, V]{Key: key, Shard: shard, Offset: offset, Answer: answer, Deleted: deleted}
	e.superseded.Store(-1)
	return e
}

// Newest tells whether no record before position took the entry's place.
func (e *Entry[K, V]) Newest(position int64) bool {
	by := e.superseded.Load()
	return by < 0 || by >= position
}

// Made is what is made of the entry, once under each lease for all watchers.
func (e *Entry[K, V]) Made(lease *Lease, it func() any) any {
	if last := e.made.Load(); last != nil && last.lease == lease {
		return last.what
	}
	next := &made{lease, it()}
	e.made.Store(next)
	return next.what
}
