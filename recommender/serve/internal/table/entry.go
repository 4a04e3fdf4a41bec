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
	encoded    atomic.Pointer[encoding]
}

// encoding is the entry as a watch sends it, with the lease that it had then.
type encoding struct {
	lease *Lease
	frame []byte
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

// Frame is the entry as encode makes it, once for each lease for all watchers.
func (e *Entry) Frame(lease *Lease, encode func() []byte) []byte {
	if made := e.encoded.Load(); made != nil && made.lease == lease {
		return made.frame
	}
	made := &encoding{lease, encode()}
	e.encoded.Store(made)
	return made.frame
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
