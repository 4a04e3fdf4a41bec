package server_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// world is deciders, servers and watchers with random events, and the records that were committed.
type world struct {
	t         *testing.T
	rand      *rand.Rand
	journal   *journaltest.Journal
	deciders  []*journaltest.Decider
	servers   []*running
	watchers  []*watcher
	at        []int // the server of each watcher
	committed map[keys.Pool]*poolsv1.PoolSize
	revisions map[keys.Pool]uint64
}

const shards, pools = 2, 6

func (w *world) pool(shard, n int) keys.Pool {
	return journaltest.Server(fmt.Sprintf("s%d-%d", shard, n))
}

// decide is a transaction of one shard with some decisions; at times it is aborted, or its decider is replaced.
func (w *world) decide() {
	shard := w.rand.IntN(shards)
	d := w.deciders[shard]
	commit := w.rand.IntN(4) > 0
	changed := map[keys.Pool]*poolsv1.PoolSize{}
	d.Begin()
	for range w.rand.IntN(4) {
		pool := w.pool(shard, w.rand.IntN(pools))
		size := journaltest.Apply(pool, w.revisions[pool]+1, uint32(1+w.rand.IntN(100)))
		if w.rand.IntN(5) == 0 {
			size = journaltest.Deleted(pool, w.revisions[pool]+1)
		}
		changed[pool] = size
		d.Put(w.journal.Decisions, pool.Record(), size)
	}
	d.Heartbeat()
	if !commit && w.rand.IntN(2) == 0 {
		w.deciders[shard] = w.journal.Decider(w.t, int32(shard)) // killed within the transaction
		w.deciders[shard].Publish()
		return
	}
	d.End(commit)
	if commit {
		for pool, size := range changed {
			w.committed[pool], w.revisions[pool] = size, size.GetRevision()
		}
	}
}

// restart ends one server, and starts another; its watchers go to any.
func (w *world) restart() {
	i := w.rand.IntN(len(w.servers))
	w.servers[i].stop()
	w.servers[i] = start(w.t, w.journal, options{}).ready(w.t)
	for j := range w.watchers {
		if w.at[j] == i {
			w.reconnect(j)
		}
	}
}

func (w *world) reconnect(j int) {
	w.at[j] = w.rand.IntN(len(w.servers))
	w.watchers[j] = w.watchers[j].resume(w.servers[w.at[j]], &ask{})
}

// agreed waits until every watcher and server has the committed records.
func (w *world) agreed() {
	w.t.Helper()
	want := map[keys.Pool]uint64{}
	for pool, size := range w.committed {
		if size.GetState() != poolsv1.State_STATE_DELETED {
			want[pool] = size.GetRevision()
		}
	}
	for _, d := range w.deciders {
		d.Publish() // a heartbeat after the last answer; one more for each that is read would never be caught up with
	}
	for _, watcher := range w.watchers {
		for end := time.Now().Add(patience); !w.has(watcher.state, want); {
			if time.Now().After(end) {
				w.t.Fatalf("a watcher does not come to what is committed: %s", w.difference(watcher.state))
			}
			watcher.awaitHeartbeat()
			watcher.answers = 0
		}
	}
	for _, server := range w.servers {
		eventually(w.t, "the server has all", func() bool {
			list, err := server.client.ListPoolSizes(w.t.Context(), &poolsv1.ListPoolSizesRequest{})
			must(w.t, err)
			got := map[keys.Pool]*poolsv1.PoolSize{}
			for _, size := range list.GetPoolSizes() {
				got[keys.PoolOf(size.GetPool())] = size
			}
			return w.has(got, want)
		})
	}
}

func (w *world) difference(got map[keys.Pool]*poolsv1.PoolSize) (text string) {
	for pool, size := range w.committed {
		if got[pool].GetRevision() != size.GetRevision() {
			text += fmt.Sprintf("\n%s: has %d %s, committed %d %s", pool, got[pool].GetRevision(), got[pool].GetState(), size.GetRevision(), size.GetState())
		}
	}
	return text
}

func (w *world) has(got map[keys.Pool]*poolsv1.PoolSize, want map[keys.Pool]uint64) bool {
	live := 0
	for pool, size := range got {
		committed := w.committed[pool]
		if size.GetRevision() == w.revisions[pool] && (committed.GetTarget() != size.GetTarget() || committed.GetState() != size.GetState()) {
			w.t.Fatalf("revision %d of %s with another content: %v, committed %v", size.GetRevision(), pool, size, committed)
		}
		if size.GetState() == poolsv1.State_STATE_DELETED {
			continue
		}
		if size.GetRevision() != want[pool] {
			return false
		}
		live++
	}
	return live == len(want)
}

func TestWhateverHappensWatchersAgreeWithTheLog(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 0)), journal: journaltest.New(t, shards),
		committed: map[keys.Pool]*poolsv1.PoolSize{}, revisions: map[keys.Pool]uint64{},
	}
	for shard := range int32(shards) {
		w.deciders = append(w.deciders, w.journal.Decider(t, shard))
		w.deciders[shard].Publish()
	}
	for range 2 {
		w.servers = append(w.servers, start(t, w.journal, options{}).ready(t))
	}
	for j := range 4 {
		w.watchers, w.at = append(w.watchers, w.servers[j%2].watch(t, &ask{}).awaitSnapshot()), append(w.at, j%2)
	}
	for range 40 {
		switch w.rand.IntN(12) {
		case 0:
			w.restart()
		case 1:
			j := w.rand.IntN(len(w.watchers))
			w.watchers[j].awaitSnapshot()
			w.reconnect(j)
		case 2:
			w.agreed()
		case 3:
			if w.journal.Fake() {
				w.journal.Compact()
			}
		default:
			w.decide()
		}
	}
	w.agreed()
}
