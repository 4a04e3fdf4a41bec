package table

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Take takes one committed record of the topic of decisions, in its partition's order. It becomes visible with the next
// heartbeat of its shard. written is the record's time, read when it came. An error names a record that was left out:
// everything else goes on.
func (t *Table) Take(shard int32, offset int64, key, value []byte, written, read time.Time) error {
	if number, ok, err := keys.ParseShard(string(key)); ok {
		if err == nil && number != shard {
			err = fmt.Errorf("a heartbeat of shard %d", number)
		}
		return t.refuse(shard, offset, t.beat(shard, offset, value, written, read, err))
	}
	return t.refuse(shard, offset, t.record(shard, offset, key, value))
}

func (t *Table) refuse(shard int32, offset int64, err error) error {
	if err == nil {
		return nil
	}
	t.refused.Add(1)
	return fmt.Errorf("read shard %d, offset %d: %w", shard, offset, err)
}

func (t *Table) record(shard int32, offset int64, key, value []byte) error {
	pool, err := keys.ParsePool(string(key))
	if err != nil {
		return err
	}
	before := t.pending[shard][pool]
	if before == nil {
		before = t.within[shard][pool]
	}
	if value == nil {
		if before != nil {
			t.pending[shard][pool] = tombstone(before, offset)
		}
		return nil
	}
	size := &poolsv1.PoolSize{}
	if err := proto.Unmarshal(value, size); err != nil {
		return fmt.Errorf("the value of %s: %w", key, err)
	}
	if keys.Of(size.GetPool()) != pool {
		return fmt.Errorf("under the key %s: a record of %s", key, keys.Of(size.GetPool()))
	}
	if before != nil && !before.forgotten && size.GetRevision() < before.Size.GetRevision() {
		return fmt.Errorf("%s: revision %d after %d", key, size.GetRevision(), before.Size.GetRevision())
	}
	size.Shard, size.ValidUntil, size.LeaseLeft = uint32(shard), nil, nil
	t.pending[shard][pool] = NewEntry(pool, shard, offset, size)
	return nil
}

func (t *Table) beat(shard int32, offset int64, value []byte, written, read time.Time, err error) error {
	if err != nil {
		return err
	}
	beat := &poolsv1.ShardHeartbeat{}
	if err := proto.Unmarshal(value, beat); err != nil {
		return fmt.Errorf("a heartbeat: %w", err)
	}
	if int(beat.GetShards()) != len(t.pending) || beat.GetShard() != uint32(shard) {
		return fmt.Errorf("a heartbeat of shard %d of %d; there are %d", beat.GetShard(), beat.GetShards(), len(t.pending))
	}
	if beat.GetLease().AsDuration() <= 0 || beat.GetLease().CheckValid() != nil {
		return fmt.Errorf("a heartbeat with a lease of %v", beat.GetLease().AsDuration())
	}
	before := t.view.Load().Shards[shard].Lease
	if before != nil && beat.GetGeneration() < before.Generation {
		return fmt.Errorf("a heartbeat of generation %d after %d", beat.GetGeneration(), before.Generation)
	}
	t.publish(shard, offset+1, newLease(beat, written, read))
	return nil
}

// publish makes visible what is pending of a shard, all of it at once.
func (t *Table) publish(number int32, position int64, lease *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.view.Load()
	before := last.Shards[number]
	shard := &Shard{Number: number, Position: position, Lease: lease, order: before.order, live: before.live}
	shard.fresh = &fresh{before: before.Position}
	t.move(shard, t.pending[number])
	clear(t.pending[number])
	if len(shard.order) > 2*shard.live+64 {
		t.compact(shard)
	}
	next := &View{Topic: last.Topic, Shards: append([]*Shard(nil), last.Shards...), At: t.now(), next: make(chan struct{})}
	next.Shards[number] = shard
	t.view.Store(next)
	close(last.next)
}

// move puts entries behind those of the shard, in the log's order. Views of before have slices of the same array that
// end before them.
func (t *Table) move(shard *Shard, entries map[keys.Pool]*Entry) {
	within := t.within[shard.Number]
	for _, e := range byOffset(entries) {
		if before := within[e.Key]; before != nil {
			before.superseded.Store(e.Offset)
		} else {
			shard.live++
		}
		within[e.Key] = e
		shard.order = append(shard.order, e)
		t.point(e)
	}
}

// point makes e what its pool has, but where the pool moved away from e's shard. Shards are read in any order, so what it
// was there may be read after what it is.
func (t *Table) point(e *Entry) {
	before, known := t.newest[e.Key]
	if !known {
		t.sorted = nil
	}
	if !known || !newer(before, e) {
		t.newest[e.Key] = e
	}
	if e.Deleted() && t.newest[e.Key] == e {
		for _, within := range t.within {
			if other := within[e.Key]; other != nil && newer(other, e) {
				t.newest[e.Key] = other
			}
		}
	}
	if t.shards[e.Key.Service] == nil {
		t.shards[e.Key.Service] = map[int32]struct{}{}
	}
	t.shards[e.Key.Service][e.Shard] = struct{}{}
}

// newer tells whether a pool goes on as one rather than as other, of another shard. Of two with the same answer it is the
// one that was read last: it was written last, but where a server begins.
func newer(one, other *Entry) bool {
	switch {
	case one.Shard == other.Shard:
		return false
	case one.Deleted() != other.Deleted():
		return other.Deleted()
	}
	return one.Size.GetRevision() > other.Size.GetRevision()
}

// Tick puts the same view in the place of the newest, so that watchers hear something.
func (t *Table) Tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.view.Load()
	t.view.Store(&View{Topic: last.Topic, Shards: last.Shards, At: t.now(), Tick: true, next: make(chan struct{})})
	close(last.next)
}
