package topics_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

const patience = 30 * time.Second

// read starts to read a journal, and returns the reader and the channel of its readings.
func read(t *testing.T, journal topics.Journal) (*topics.Reader, chan topics.Reading) {
	readings := make(chan topics.Reading, 10)
	r := topics.NewReader(journal, slog.New(slog.DiscardHandler), func(reading topics.Reading) { readings <- reading })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return r, readings
}

func first(t *testing.T, readings chan topics.Reading) topics.Reading {
	t.Helper()
	select {
	case reading := <-readings:
		return reading
	case <-time.After(patience):
		t.Fatal("the journal was not read to its end")
		panic("unreachable")
	}
}

func eventually(t *testing.T, name string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + name)
		}
	}
}

func revision(reading topics.Reading, pool keys.Pool) uint64 {
	e, _ := reading.Tables.Pools.Get(pool)
	if e == nil {
		return 0
	}
	return e.Publication.GetRevision()
}

var cart, orders = journaltest.Server("cart"), journaltest.Server("orders")

func TestAnEmptyLogIsReadToItsEnd(t *testing.T) {
	journal := journaltest.New(t, 2)
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	if e, view := reading.Tables.Pools.Get(cart); e != nil || len(view.Shards) != 2 || view.Topic == [16]byte{} {
		t.Error(e, view)
	}
}

func TestWhatWasThereAtTheStartIsThereWhenReady(t *testing.T) {
	journal := journaltest.New(t, 2)
	for shard := range int32(2) {
		d := journal.Decider(t, shard)
		for revision := range uint64(5) {
			d.Publish(journaltest.Apply(journaltest.Server([]string{"cart", "orders"}[shard]), revision+1, 8))
		}
	}
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	if revision(reading, cart) != 5 || revision(reading, orders) != 5 {
		t.Error(revision(reading, cart), revision(reading, orders))
	}
}

func TestOnlyWhatIsCommittedCounts(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8))
	d.Begin()
	d.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 9))
	d.Heartbeat()
	d.End(false)
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	if got := revision(reading, cart); got != 1 {
		t.Errorf("revision %d: an aborted transaction was read", got)
	}
	d.Begin()
	d.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 10))
	d.Put(journal.Decisions, orders.Record(), journaltest.Apply(orders, 1, 10))
	d.Heartbeat()
	time.Sleep(50 * time.Millisecond) // it would be seen by now, if at all
	if got := revision(reading, cart); got != 1 {
		t.Errorf("revision %d: an open transaction was read", got)
	}
	d.End(true)
	eventually(t, "the whole transaction", func() bool { return revision(reading, cart) == 2 })
	if revision(reading, orders) != 1 {
		t.Error("a transaction was read in parts")
	}
}

func TestATransactionCountsWithItsHeartbeat(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8))
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	d.Begin()
	d.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 9))
	d.End(true) // against the rules: without one
	time.Sleep(50 * time.Millisecond)
	if got := revision(reading, cart); got != 1 {
		t.Errorf("revision %d before its heartbeat", got)
	}
	d.Publish()
	eventually(t, "the revision", func() bool { return revision(reading, cart) == 2 })
}

func TestADeciderThatLostItsShardIsNotHeard(t *testing.T) {
	journal := journaltest.New(t, 1)
	before := journal.Decider(t, 0)
	before.Publish(journaltest.Apply(cart, 1, 8))
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	before.Begin()
	before.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 9))
	before.Heartbeat()
	after := journal.Decider(t, 0)
	after.Publish(journaltest.Apply(cart, 2, 20)) // taking over ends what was open
	eventually(t, "the successor's answer", func() bool { return revision(reading, cart) == 2 })
	if e, _ := reading.Tables.Pools.Get(cart); e.Publication.GetTarget() != 20 {
		t.Error("revision 2 is the one that was fenced off:", e.Publication)
	}
}

func TestACompactedLogGivesTheSame(t *testing.T) {
	journal := journaltest.New(t, 1)
	if !journal.Fake() {
		t.Skip("a real broker compacts when it sees fit")
	}
	d := journal.Decider(t, 0)
	for revision := range uint64(20) {
		d.Publish(journaltest.Apply(cart, revision+1, 8), journaltest.Apply(orders, revision+1, 9))
	}
	d.Publish(journaltest.Deleted(orders, 21))
	d.Begin()
	d.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 99, 8))
	d.End(false) // the journal ends in offsets without records
	journal.Compact()
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	if revision(reading, cart) != 20 || revision(reading, orders) != 0 {
		t.Error(revision(reading, cart), revision(reading, orders))
	}
}

func TestAnotherNumberOfShardsIsRefused(t *testing.T) {
	journal := journaltest.New(t, 3)
	other := journal.Journal
	other.Shards = 2
	r, readings := read(t, other)
	eventually(t, "the refusal", func() bool { return strings.Contains(r.Problem(), "3 partitions; configured are 2 shards") })
	if len(readings) > 0 {
		t.Error("it was read all the same")
	}
}

func TestALogThatIsNotThereIsWaitedFor(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Delete(t)
	r, readings := read(t, journal.Journal)
	eventually(t, "the problem", func() bool {
		return strings.Contains(r.Problem(), journal.Decisions) || strings.Contains(r.Problem(), journal.Reports)
	})
	journal.Create(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 7, 8))
	eventually(t, "the journal", func() bool { return len(readings) > 0 })
}

func TestRecordsThatAreNoneAreLeftOut(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 5, 8))
	d.Begin()
	d.PutBytes(journal.Decisions, "nothing", []byte("x"))
	d.PutBytes(journal.Decisions, orders.Record(), []byte{0xff, 0xff})
	d.Put(journal.Decisions, orders.Record(), journaltest.Apply(cart, 6, 8)) // under another's key
	d.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 4, 8))   // backwards
	d.PutBytes(journal.Decisions, keys.Shard(0), []byte{0xff})
	d.PutBytes(journal.Decisions, keys.Shard(1), nil) // of another shard
	d.PutBytes(journal.Explanations, "nothing", nil)
	d.End(true)
	d.Shards = 2
	d.Publish() // as if there were two
	d.Shards, d.Lease = 1, 0
	d.Publish()
	d.Lease = time.Minute
	d.Publish(journaltest.Apply(orders, 1, 8))
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	if got := reading.Tables.LeftOut(); got != 8 {
		t.Errorf("%d were left out, want 8", got)
	}
	if revision(reading, cart) != 5 || revision(reading, orders) != 1 {
		t.Error(revision(reading, cart), revision(reading, orders))
	}
}

func TestExplanationsAreFetchedFromTheLog(t *testing.T) {
	journal := journaltest.New(t, 2)
	d := journal.Decider(t, 1)
	for n := range 20 {
		d.Explain(cart, &poolsv1.Explanation{Completions: uint64(n)})
	}
	_, readings := read(t, journal.Journal)
	reading := first(t, readings)
	from, err := topics.NewExplanations(journal.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	at, ok := reading.Explanations.Place(cart.Record())
	if !ok || at.Shard != 1 {
		t.Fatal(at, ok)
	}
	got := &poolsv1.Explanation{}
	err = from.Fetch(t.Context(), cart.Record(), at, got)
	if err != nil || got.GetCompletions() != 19 {
		t.Error(got, err)
	}
	at.Offset++ // the end of the transaction
	if err := from.Fetch(t.Context(), cart.Record(), at, got); err == nil {
		t.Error("something was found where nothing is")
	}
	d.Begin()
	d.Put(journal.Explanations, cart.Record(), nil)
	d.End(true)
	eventually(t, "it is gone", func() bool { _, ok := reading.Explanations.Place(cart.Record()); return !ok })
}

func TestWritesGoToTheShardThatIsNamed(t *testing.T) {
	journal := journaltest.New(t, 3)
	w, err := topics.NewWriter(journal.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Report(t.Context(), cart.Record(), &poolsv1.Report{RequestId: "r"}, 0, 2); err != nil {
		t.Fatal(err)
	}
	var got []int32
	for _, record := range journal.Read(t, journal.Reports) {
		got = append(got, record.Partition)
	}
	if len(got) != 2 || got[0]+got[1] != 2 || got[0]*got[1] != 0 {
		t.Error(got)
	}
	ends, err := w.Ends(t.Context())
	if err != nil || len(ends) != 3 {
		t.Error(ends, err)
	}
}
