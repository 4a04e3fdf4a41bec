package table

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice.dev/serve/internal/keys"
)

// Table is written by the one goroutine that reads the log, and read by all.
type Table struct {
	// pending has what was read of each shard behind its newest heartbeat, within what was read before; of the reader
	// alone.
	pending, within []map[keys.Pool]*Entry
	remembered      time.Duration
	now             func() time.Time

	view   atomic.Pointer[View]
	closed chan struct{}
	once   sync.Once

	mu sync.RWMutex
	// newest of each pool, in whichever shard: one that was deleted in a shard may go on in another.
	newest map[keys.Pool]*Entry
	// sorted has the keys of newest in the order of lists; nil when it has to be made anew.
	sorted []keys.Pool
	// shards: of each service those that ever had a pool of it.
	shards map[string]map[int32]struct{}
	// refused counts records that were left out.
	refused atomic.Int64
}

// New is an empty table of a topic's shards. Removals are remembered for remembered.
func New(topic Topic, shards int, remembered time.Duration, now func() time.Time) *Table {
	t := &Table{
		pending:    make([]map[keys.Pool]*Entry, shards),
		within:     make([]map[keys.Pool]*Entry, shards),
		remembered: remembered,
		now:        now,
		closed:     make(chan struct{}),
		newest:     map[keys.Pool]*Entry{},
		shards:     map[string]map[int32]struct{}{},
	}
	v := &View{Topic: topic, Shards: make([]*Shard, shards), At: now(), next: make(chan struct{})}
	for i := range v.Shards {
		t.pending[i], t.within[i] = map[keys.Pool]*Entry{}, map[keys.Pool]*Entry{}
		v.Shards[i] = &Shard{Number: int32(i), fresh: &fresh{}}
	}
	t.view.Store(v)
	return t
}

// View is the newest.
func (t *Table) View() *View { return t.view.Load() }

// Remembered is for how long removals are: a resume token is good for as long.
func (t *Table) Remembered() time.Duration { return t.remembered }

// Refused counts the records that could not be used.
func (t *Table) Refused() int64 { return t.refused.Load() }

// Closed is closed when another table takes this one's place: the topic is another.
func (t *Table) Closed() <-chan struct{} { return t.closed }

// Close ends every watch of the table.
func (t *Table) Close() {
	t.once.Do(func() { close(t.closed) })
	t.Tick()
}

// Get is the newest answer, nil for a pool that has none or was deleted, and the view that it belongs to.
func (t *Table) Get(pool keys.Pool) (*Entry, *View) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.newest[pool]
	if e != nil && e.Deleted() {
		e = nil
	}
	return e, t.view.Load()
}

// Moved tells whether e's pool goes on in another shard.
func (t *Table) Moved(e *Entry) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	newest := t.newest[e.Key]
	return newest != nil && newest.Shard != e.Shard
}

// Page is up to n answers behind `after` that keep takes, ordered by pool, and whether there are more.
func (t *Table) Page(after keys.Pool, n int, keep func(keys.Pool) bool) (page []*Entry, more bool, of *View) {
	sorted := t.order()
	t.mu.RLock()
	defer t.mu.RUnlock()
	from, found := slices.BinarySearchFunc(sorted, after, keys.Pool.Compare)
	if found {
		from++
	}
	for _, pool := range sorted[from:] {
		e := t.newest[pool]
		if e == nil || e.Deleted() || !keep(pool) {
			continue
		}
		if len(page) == n {
			return page, true, t.view.Load()
		}
		page = append(page, e)
	}
	return page, false, t.view.Load()
}

func (t *Table) order() []keys.Pool {
	t.mu.RLock()
	sorted := t.sorted
	t.mu.RUnlock()
	if sorted != nil {
		return sorted
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sorted == nil {
		t.sorted = make([]keys.Pool, 0, len(t.newest))
		for pool := range t.newest {
			t.sorted = append(t.sorted, pool)
		}
		slices.SortFunc(t.sorted, keys.Pool.Compare)
	}
	return t.sorted
}

// ShardsOf are those with pools of the services and with the pools, ordered.
func (t *Table) ShardsOf(services []string, pools []keys.Pool) (numbers []int32) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, service := range services {
		for number := range t.shards[service] {
			numbers = append(numbers, number)
		}
	}
	for _, pool := range pools {
		if e := t.newest[pool]; e != nil {
			numbers = append(numbers, e.Shard)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// Concerned are the shards with pools of a service, or towards it, and how many such pools there are.
func (t *Table) Concerned(service string) (numbers []int32, pools int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for pool, e := range t.newest {
		if (pool.Service == service || pool.Peer == service) && !e.Deleted() {
			numbers, pools = append(numbers, e.Shard), pools+1
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), pools
}
