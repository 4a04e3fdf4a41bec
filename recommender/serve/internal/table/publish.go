package table

import "fmt"

// take keeps a record until the next heartbeat.
func (t *Table[K, V]) take(shard int32, offset int64, record string, value []byte) error {
	key, answer, err := t.kind.take(record, value, shard)
	if err != nil {
		return err
	}
	before := t.pending[shard][key]
	if before == nil {
		before = t.within[shard][key]
	}
	if value == nil {
		if before != nil {
			tombstone := newEntry(key, shard, offset, t.kind.gone(key, before.Answer), true)
			tombstone.forgotten = true
			t.pending[shard][key] = tombstone
		}
		return nil
	}
	if before != nil && !before.forgotten && t.kind.revision(answer) < t.kind.revision(before.Answer) {
		return fmt.Errorf("%s: revision %d after %d", record, t.kind.revision(answer), t.kind.revision(before.Answer))
	}
	t.pending[shard][key] = newEntry(key, shard, offset, answer, t.kind.deleted(answer))
	return nil
}

// publish makes the pending records of a shard visible, all at once.
func (t *Table[K, V]) publish(number int32, position int64, lease *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.view.Load()
	before := last.Shards[number]
	shard := &Shard[K, V]{Number: number, Position: position, Lease: lease, order: before.order, live: before.live}
	shard.fresh = &fresh[K, V]{before: before.Position}
	t.move(shard, t.pending[number])
	clear(t.pending[number])
	if len(shard.order) > 2*shard.live+64 {
		t.compact(shard)
	}
	next := &View[K, V]{Topic: last.Topic, Shards: append([]*Shard[K, V](nil), last.Shards...), At: t.now(), next: make(chan struct{})}
	next.Shards[number] = shard
	t.view.Store(next)
	close(last.next)
}

// move appends entries to those of the shard, in the log's order. Earlier views have slices of the same array that end before
// them.
func (t *Table[K, V]) move(shard *Shard[K, V], entries map[K]*Entry[K, V]) {
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

// point makes e the entry of its key, unless the key moved away from e's shard. Shards are read in any order, so the record
// before a move may be read after the one behind it.
func (t *Table[K, V]) point(e *Entry[K, V]) {
	before, known := t.newest[e.Key]
	if !known {
		t.sorted = nil
	}
	if !known || !t.newer(before, e) {
		t.newest[e.Key] = e
	}
	if e.Deleted && t.newest[e.Key] == e {
		for _, within := range t.within {
			if other := within[e.Key]; other != nil && t.newer(other, e) {
				t.newest[e.Key] = other
			}
		}
	}
	group := e.Key.Group()
	if t.shards[group] == nil {
		t.shards[group] = map[int32]struct{}{}
	}
	t.shards[group][e.Shard] = struct{}{}
}

// newer is true where the entry one continues a key rather than other, of another shard. Of two with the same revision it is
// the one that was read last: that one was written last, except while a server starts.
func (t *Table[K, V]) newer(one, other *Entry[K, V]) bool {
	switch {
	case one.Shard == other.Shard:
		return false
	case one.Deleted != other.Deleted:
		return other.Deleted
	}
	return t.kind.revision(one.Answer) > t.kind.revision(other.Answer)
}

// Tick replaces the newest view by an equal one, so that watchers get an event.
func (t *Table[K, V]) Tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.view.Load()
	t.view.Store(&View[K, V]{Topic: last.Topic, Shards: last.Shards, At: t.now(), Tick: true, next: make(chan struct{})})
	close(last.next)
}
