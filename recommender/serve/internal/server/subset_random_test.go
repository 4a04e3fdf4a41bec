package server_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// network is deciders, servers and watchers of subsets with random events, and the records that were committed.
type network struct {
	t         *testing.T
	rand      *rand.Rand
	journal   *journaltest.Journal
	deciders  []*journaltest.Decider
	servers   []*running
	watchers  []*connections
	committed map[keys.Subset]*subsetsv1.Subset
	revisions map[keys.Subset]uint64
}

// solve is a transaction of one shard: subsets change or go, beside a pool. At times it is aborted, or its
// decider is replaced within it. A pair moves nowhere: an application is in one shard.
func (n *network) solve() {
	shard := n.rand.IntN(shards)
	d := n.deciders[shard]
	commit := n.rand.IntN(4) > 0
	changed := map[keys.Subset]*subsetsv1.Subset{}
	d.Begin()
	d.Put(n.journal.Decisions, keys.CalledService("b").Record(), journaltest.Containers("b", "b-1", "b-2"))
	d.Put(n.journal.Decisions, cart.Record(), journaltest.Apply(cart, 1, 8))
	for range n.rand.IntN(5) {
		key := subsetOf(fmt.Sprint("a", shard), fmt.Sprint(n.rand.IntN(4)), "b")
		revision := n.revisions[key] + 1
		subset := journaltest.Subset(key, revision, []string{"b-1", "b-2"}[:1+n.rand.IntN(2)]...)
		if n.rand.IntN(5) == 0 {
			subset = journaltest.DeletedSubset(key, revision)
		}
		d.Put(n.journal.Decisions, key.Record(), subset)
		changed[key] = subset
	}
	d.Heartbeat()
	if !commit && n.rand.IntN(2) == 0 {
		n.deciders[shard] = n.journal.Decider(n.t, int32(shard)) // killed within the transaction
		n.deciders[shard].Publish()
		return
	}
	d.End(commit)
	if commit {
		for key, subset := range changed {
			n.committed[key], n.revisions[key] = subset, subset.GetRevision()
		}
	}
}

// live are the subsets that were committed and not deleted.
func (n *network) live() map[keys.Subset]*subsetsv1.Subset {
	subsets := map[keys.Subset]*subsetsv1.Subset{}
	for key, subset := range n.committed {
		if subset.GetState() != subsetsv1.State_STATE_DELETED {
			subsets[key] = subset
		}
	}
	return subsets
}

func same(got, want map[keys.Subset]*subsetsv1.Subset) bool {
	live := 0
	for key, subset := range got {
		if subset.GetState() == subsetsv1.State_STATE_DELETED {
			continue
		}
		live++
		other := proto.CloneOf(subset)
		other.Shard = 0
		if !proto.Equal(other, want[key]) {
			return false
		}
	}
	return live == len(want)
}

// agreed waits until every watcher and server has the committed records.
func (n *network) agreed() {
	n.t.Helper()
	want := n.live()
	for _, d := range n.deciders {
		d.Publish()
	}
	for _, w := range n.watchers {
		for end := time.Now().Add(patience); !same(w.state, want); {
			if time.Now().After(end) {
				n.t.Fatalf("a watcher has %v, committed is %v", w.state, want)
			}
			w.awaitHeartbeat()
			w.answers = 0
		}
	}
	for _, server := range n.servers {
		eventually(n.t, "the server has all", func() bool {
			list, err := server.subsets.ListSubsets(n.t.Context(), &subsetsv1.ListSubsetsRequest{})
			must(n.t, err)
			got := map[keys.Subset]*subsetsv1.Subset{}
			for _, subset := range list.GetSubsets() {
				got[keys.SubsetOf(subset.GetKey())] = subset
			}
			return same(got, want)
		})
	}
}

func (n *network) reconnect(i int) {
	n.watchers[i] = n.watchers[i].resume(n.servers[n.rand.IntN(len(n.servers))], &subsetsv1.WatchSubsetsRequest{})
}

func TestWhateverHappensWatchersOfSubsetsAgreeWithTheLog(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	n := &network{
		t: t, rand: rand.New(rand.NewPCG(seed, 0)), journal: journaltest.New(t, shards),
		committed: map[keys.Subset]*subsetsv1.Subset{}, revisions: map[keys.Subset]uint64{},
	}
	for shard := range int32(shards) {
		n.deciders = append(n.deciders, n.journal.Decider(t, shard))
		n.deciders[shard].Publish()
	}
	for range 2 {
		n.servers = append(n.servers, start(t, n.journal, options{}).ready(t))
	}
	for i := range 3 {
		n.watchers = append(n.watchers, n.servers[i%2].connections(t, &subsetsv1.WatchSubsetsRequest{}).awaitSnapshot())
	}
	for range 40 {
		switch n.rand.IntN(12) {
		case 0:
			i := n.rand.IntN(len(n.servers))
			n.servers[i].stop()
			n.servers[i] = start(t, n.journal, options{}).ready(t)
			for j := range n.watchers {
				n.reconnect(j)
			}
		case 1:
			i := n.rand.IntN(len(n.watchers))
			n.watchers[i].awaitSnapshot()
			n.reconnect(i)
		case 2:
			n.agreed()
		case 3:
			if n.journal.Fake() {
				n.journal.Compact()
			}
		default:
			n.solve()
		}
	}
	n.agreed()
}
