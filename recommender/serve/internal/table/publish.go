package table

import "fmt"

// stage keeps a record until the next heartbeat.
func (t *Table[K, V]) stage(shard int32, offset int64, record string, value []byte) error {
	key, publication, err := t.kind.decode(record, value, shard)
	if err != nil {
		return err
	}
	previous := t.pending[shard][key]
	if previous == nil {
		previous = t.published[shard][key]
	}
	if value == nil {
		if previous != nil {
			tombstone := newEntry(key, shard, offset, t.kind.tombstone(key, previous.Publication), true)
			tombstone.tombstone = true
			t.pending[shard][key] = tombstone
		}
		return nil
	}
	if previous != nil && !previous.tombstone && t.kind.revision(publication) < t.kind.revision(previous.Publication) {
		return fmt.Errorf("%s: revision %d after %d", record, t.kind.revision(publication), t.kind.revision(previous.Publication))
	}
	t.pending[shard][key] = newEntry(key, shard, offset, publication, t.kind.deleted(publication))
	return nil
}

// publish makes the pending records of a shard visible, all at once.
func (t *Table[K, V]) publish(number int32, position int64, lease *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.view.Load()
	previous := last.Shards[number]
	shard := &Shard[K, V]{Number: number, Position: position, Lease: lease, order: previous.order, live: previous.live}
	shard.recent = &recentEntries[K, V]{position: previous.Position}
	t.appendEntries(shard, t.pending[number])
	clear(t.pending[number])
	if len(shard.order) > 2*shard.live+64 {
		t.compact(shard)
	}
	next := &View[K, V]{Topic: last.Topic, Shards: append([]*Shard[K, V](nil), last.Shards...), At: t.now(), next: make(chan struct{})}
	next.Shards[number] = shard
	t.view.Store(next)
	close(last.next)
}

// appendEntries appends entries to the shard's, in the journal's order. Earlier views have slices of the same array that end
// before them.
func (t *Table[K, V]) appendEntries(shard *Shard[K, V], entries map[K]*Entry[K, V]) {
	published := t.published[shard.Number]
	for _, e := range sortedByOffset(entries) {
		if previous := published[e.Key]; previous != nil {
			previous.superseded.Store(e.Offset)
		} else {
			shard.live++
		}
		published[e.Key] = e
		shard.order = append(shard.order, e)
		t.index(e)
	}
}

// index makes e the entry of its key, unless the key moved away from e's shard. Shards are read in any order, so the record
// before a move may be read after the one behind it.
func (t *Table[K, V]) index(e *Entry[K, V]) {
	current, exists := t.newest[e.Key]
	if !exists {
		t.sorted = nil
	}
	if !exists || !t.newer(current, e) {
		t.newest[e.Key] = e
	}
	if e.Deleted && t.newest[e.Key] == e {
		for _, published := range t.published {
			if other := published[e.Key]; other != nil && t.newer(other, e) {
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

// newer is true if e, of another shard than other, has the newer record of their key. Of two with the same revision the one
// read last is newer: it was written last, except while a server starts.
func (t *Table[K, V]) newer(e, other *Entry[K, V]) bool {
	switch {
	case e.Shard == other.Shard:
		return false
	case e.Deleted != other.Deleted:
		return other.Deleted
	}
	return t.kind.revision(e.Publication) > t.kind.revision(other.Publication)
}

// Tick replaces the newest view by an equal one, so that watchers get an event.
func (t *Table[K, V]) Tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.view.Load()
	t.view.Store(&View[K, V]{Topic: last.Topic, Shards: last.Shards, At: t.now(), Tick: true, next: make(chan struct{})})
	close(last.next)
}
