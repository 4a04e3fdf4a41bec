package server_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

type ask = poolsv1.WatchPoolSizesRequest

func TestStateThenChangesThenHeartbeats(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8), journaltest.Apply(orders, 4, 9), journaltest.Deleted(catalogue, 9))
	w := start(t, journal, options{}).ready(t).watch(t, &ask{}).awaitSnapshot()
	if len(w.state) != 2 || w.snapshots != 1 || w.resumption != commonv1.Resumption_RESUMPTION_NO_TOKEN {
		t.Fatal(w.state, w.snapshots, w.resumption)
	}
	shards := w.heartbeat.GetHeartbeat().GetShards()
	if len(shards) != 1 || shards[0].GetLeaseLeft().AsDuration() <= 50*time.Second || shards[0].GetLeaseLeft().AsDuration() > time.Minute {
		t.Error(shards)
	}
	d.Publish(journaltest.Apply(cart, 2, 10))
	if w.at(cart, 2); w.answers != 1 || w.snapshots != 1 {
		t.Error(w.answers, w.snapshots)
	}
	d.Publish()
	if w.awaitSnapshot(); w.answers != 0 {
		t.Error("a heartbeat came with", w.answers)
	}
	d.Publish(journaltest.Deleted(orders, 5))
	if w.at(orders, 5); w.state[orders].GetState() != poolsv1.State_STATE_DELETED {
		t.Error(w.state[orders])
	}
}

func TestAWatchTakesOnlyWhatItNames(t *testing.T) {
	journal := journaltest.New(t, 2)
	one, two := journal.Decider(t, 0), journal.Decider(t, 1)
	one.Publish(journaltest.Apply(cart, 1, 8), journaltest.Apply(catalogue, 1, 8))
	two.Publish(journaltest.Apply(orders, 1, 8))
	r := start(t, journal, options{}).ready(t)
	for _, tt := range []struct {
		ask    *ask
		want   []keys.Pool
		shards int
	}{
		{&ask{}, []keys.Pool{cart, catalogue, orders}, 2},
		{&ask{Service: "cart"}, []keys.Pool{cart}, 1},
		{&ask{Services: []string{"orders"}, Pools: []*poolsv1.Pool{catalogue.Proto()}}, []keys.Pool{orders, catalogue}, 2},
		{&ask{Service: "unknown"}, nil, 2},
	} {
		w := r.watch(t, tt.ask).awaitSnapshot()
		if len(w.state) != len(tt.want) || len(w.heartbeat.GetHeartbeat().GetShards()) != tt.shards {
			t.Errorf("%v: %v, %v", tt.ask, w.state, w.heartbeat)
		}
		for _, pool := range tt.want {
			if w.state[pool] == nil {
				t.Errorf("%v: no %v", tt.ask, pool)
			}
		}
	}
	w := r.watch(t, &ask{Service: "orders"}).awaitSnapshot()
	one.Publish(journaltest.Apply(cart, 2, 8))
	two.Publish(journaltest.Apply(orders, 2, 8))
	if w.at(orders, 2); w.answers != 1 {
		t.Error(w.answers)
	}
}

func TestATokenIsGoodAtAnyServerAndAfterAllWereRestarted(t *testing.T) {
	journal := journaltest.New(t, 2)
	one, two := journal.Decider(t, 0), journal.Decider(t, 1)
	one.Publish(journaltest.Apply(cart, 1, 8))
	two.Publish(journaltest.Apply(orders, 1, 8), journaltest.Apply(catalogue, 1, 9))
	first := start(t, journal, options{}).ready(t)
	w := first.watch(t, &ask{}).awaitSnapshot()
	first.stop()
	one.Publish(journaltest.Apply(cart, 2, 8))
	two.Publish(journaltest.Deleted(catalogue, 2))
	second := start(t, journal, options{}).ready(t)
	w = w.resume(second, &ask{}).awaitSnapshot()
	if w.snapshots != 0 || w.answers != 2 || w.state[cart].GetRevision() != 2 ||
		w.state[catalogue].GetState() != poolsv1.State_STATE_DELETED {
		t.Fatal(w.snapshots, w.answers, w.state)
	}
	third := start(t, journal, options{}).ready(t)
	if w = w.resume(third, &ask{}).awaitSnapshot(); w.answers != 0 || w.snapshots != 0 {
		t.Error("nothing changed, and it was told", w.answers)
	}
}

func TestATokenThatCannotBeGoneOnFrom(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).awaitSnapshot()
	if w = w.resume(r, &ask{Service: "cart"}).awaitSnapshot(); w.resumption != commonv1.Resumption_RESUMPTION_OTHER_FILTER {
		t.Error(w.resumption)
	}
	w = r.watch(t, &ask{}).awaitSnapshot()
	r.stop()
	journal.Delete(t)
	journal.Create(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(orders, 1, 8))
	r = start(t, journal, options{}).ready(t)
	if w = w.resume(r, &ask{}).awaitSnapshot(); w.resumption != commonv1.Resumption_RESUMPTION_OTHER_LOG || w.answers != 1 {
		t.Error(w.resumption, w.answers)
	}
}

func TestALogThatIsReplacedEndsItsWatches(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).awaitSnapshot()
	journal.Delete(t)
	journal.Create(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(orders, 1, 8))
	for {
		if _, err := w.recv(); err != nil {
			refused(t, err, codes.Unavailable)
			break
		}
	}
	if w = w.resume(r, &ask{}).awaitSnapshot(); w.state[orders] == nil || w.resumption != commonv1.Resumption_RESUMPTION_OTHER_LOG {
		t.Error(w.resumption, w.state)
	}
}

func TestWithoutAHeartbeatAnswersAreStaleAndKeepTheirRevision(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Lease = 300 * time.Millisecond
	d.Publish(journaltest.Apply(cart, 3, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).until(nothingLeft)
	w.until(func() bool { return w.heartbeat.GetHeartbeat().GetShards()[0].GetLeaseLeft().AsDuration() == 0 })
	got, err := r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	must(t, err)
	size := got.GetPoolSize()
	if size.GetState() != poolsv1.State_STATE_STALE || size.GetAction() != commonv1.Action_ACTION_HOLD ||
		size.GetRevision() != 3 || size.GetTarget() != 8 || size.GetLeaseLeft().AsDuration() != 0 {
		t.Error(size)
	}
	d.Lease = time.Minute
	d.Publish()
	w.until(func() bool { return w.heartbeat.GetHeartbeat().GetShards()[0].GetLeaseLeft().AsDuration() > 0 })
	got, err = r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	must(t, err)
	if got.GetPoolSize().GetState() != poolsv1.State_STATE_PROVIDED {
		t.Error(got)
	}
}

func nothingLeft() bool { return true }

func TestAnswersThatAHeartbeatDoesNotConfirm(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8), journaltest.Apply(orders, 1, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).awaitSnapshot()
	ended := timestamppb.New(time.Now().Add(-time.Second))
	d.Begin()
	d.Heartbeat(&poolsv1.NotRenewed{Pool: cart.Proto(), ValidUntil: ended})
	d.End(true)
	w.until(func() bool { return len(w.heartbeat.GetNotRenewed()) == 1 })
	named := w.heartbeat.GetNotRenewed()[0]
	if keys.PoolOf(named.GetPool()) != cart || named.GetLeaseLeft().AsDuration() != 0 || !named.GetValidUntil().AsTime().Equal(ended.AsTime()) {
		t.Error(named)
	}
	list, err := r.client.ListPoolSizes(t.Context(), &poolsv1.ListPoolSizesRequest{})
	must(t, err)
	if got := list.GetPoolSizes(); got[0].GetState() != poolsv1.State_STATE_STALE || got[1].GetState() != poolsv1.State_STATE_PROVIDED {
		t.Error(got)
	}
	if w = r.watch(t, &ask{Service: "orders"}).awaitSnapshot(); len(w.heartbeat.GetNotRenewed()) != 0 {
		t.Error("a watch of orders was told of cart")
	}
}

func TestASilentDeciderDoesNotSilenceAWatch(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	w := start(t, journal, options{every: 20 * time.Millisecond}).ready(t).watch(t, &ask{})
	for range 5 {
		w.awaitSnapshot()
	}
}

func TestAPoolThatMovedToAnotherShardIsToldOnce(t *testing.T) {
	journal := journaltest.New(t, 2)
	one, two := journal.Decider(t, 0), journal.Decider(t, 1)
	one.Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).awaitSnapshot()
	two.Publish(journaltest.Apply(cart, 3, 9))
	w.at(cart, 3)
	one.Publish(journaltest.Deleted(cart, 2))
	w.awaitSnapshot()
	if w.state[cart].GetState() == poolsv1.State_STATE_DELETED || w.state[cart].GetShard() != 1 {
		t.Error(w.state[cart])
	}
	if fresh := r.watch(t, &ask{}).awaitSnapshot(); len(fresh.state) != 1 || fresh.state[cart].GetRevision() != 3 {
		t.Error(fresh.state)
	}
}

func TestAServerThatStopsSaysSo(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).awaitSnapshot()
	go r.stop()
	_, err := w.recv()
	refused(t, err, codes.Unavailable)
}
