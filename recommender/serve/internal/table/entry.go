// Package table holds the newest record of each pool, as of the newest heartbeat of its shard.
package table

import (
	"sync/atomic"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Entry is one record of a pool. It does not change but for what took its place.
type Entry struct {
	Key    keys.Pool
	Shard  int32
	Offset int64
	// Size is the answer, without a lease. Nobody changes it.
	Size *poolsv1.PoolSize
	// forgotten: the record had no value. It stays as a DELETED one, so that watchers hear of it.
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

// NewEntry is a record that was read at offset.
func NewEntry(key keys.Pool, shard int32, offset int64, size *poolsv1.PoolSize) *Entry {
	e := &Entry{Key: key, Shard: shard, Offset: offset, Size: size}
	e.superseded.Store(-1)
	return e
}

// Deleted tells whether the pool was taken out of the configuration.
func (e *Entry) Deleted() bool { return e.Size.GetState() == poolsv1.State_STATE_DELETED }

// Newest tells whether no record before position took the entry's place.
func (e *Entry) Newest(position int64) bool {
	by := e.superseded.Load()
	return by < 0 || by >= position
}

// Made is what is made of the entry, once under each lease for all watchers.
func (e *Entry) Made(lease *Lease, it func() any) any {
	if last := e.made.Load(); last != nil && last.lease == lease {
		return last.what
	}
	next := &made{lease, it()}
	e.made.Store(next)
	return next.what
}

// tombstone is what is left of before once its record is gone.
func tombstone(before *Entry, offset int64) *Entry {
	size := &poolsv1.PoolSize{
		Pool: before.Key.Proto(), State: poolsv1.State_STATE_DELETED, Revision: before.Size.GetRevision(),
	}
	e := NewEntry(before.Key, before.Shard, offset, size)
	e.forgotten = true
	return e
}
