package journaltest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Decider writes one shard, by transactions.
type Decider struct {
	t             testing.TB
	journal       *Journal
	client        *kgo.Client
	shard         int32
	topicsWritten []string // topics, in this transaction
	// Lease, Generation and Shards are those of its heartbeats.
	Lease      time.Duration
	Generation uint64
	Shards     int
}

// Decider takes over a shard; an earlier decider of the shard is fenced.
func (l *Journal) Decider(t testing.TB, shard int32) *Decider {
	t.Helper()
	// A minute: a busy machine takes many seconds for some hundred records.
	client, err := kgo.NewClient(kgo.SeedBrokers(l.Brokers...), kgo.TransactionalID(l.Decisions+keys.Shard(shard)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionTimeout(time.Minute), kgo.ProducerLinger(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &Decider{t: t, journal: l, client: client, shard: shard, Lease: time.Minute, Generation: 1, Shards: l.Shards}
}

// Begin begins a transaction.
func (d *Decider) Begin() {
	d.t.Helper()
	if err := d.client.BeginTransaction(); err != nil {
		d.t.Fatal(err)
	}
}

// Put writes a record; a nil message is a record without a value.
func (d *Decider) Put(topic, key string, message proto.Message) {
	d.t.Helper()
	var value []byte
	if message != nil {
		var err error
		if value, err = proto.Marshal(message); err != nil {
			d.t.Fatal(err)
		}
	}
	d.PutBytes(topic, key, value)
}

// PutBytes writes any bytes.
func (d *Decider) PutBytes(topic, key string, value []byte) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	record := &kgo.Record{Topic: topic, Partition: d.shard, Key: []byte(key), Value: value}
	if err := d.client.ProduceSync(ctx, record).FirstErr(); err != nil {
		d.t.Fatal(err)
	}
	// kgo sends the first records of a topic before it stores the topic's partitions. A transaction that ends in between
	// finds no partition that it wrote to: EndTransaction aborts it without an error, and the sequence stays at 1.
	for {
		leader, _, err := d.client.PartitionLeader(topic, d.shard)
		if err != nil {
			d.t.Fatal(err)
		}
		if leader >= 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !slices.Contains(d.topicsWritten, topic) {
		d.topicsWritten = append(d.topicsWritten, topic)
	}
}

// Heartbeat writes a heartbeat.
func (d *Decider) Heartbeat(exempt ...*poolsv1.NotRenewed) {
	d.t.Helper()
	d.Put(d.journal.Decisions, keys.Shard(d.shard), &poolsv1.ShardHeartbeat{
		Shard: uint32(d.shard), Shards: uint32(d.Shards), Generation: d.Generation, ComputedAt: timestamppb.Now(),
		Lease: durationpb.New(d.Lease), NotRenewed: exempt, Decider: "test",
	})
}

// End commits, or aborts, and waits until readers of committed records see it.
func (d *Decider) End(commit bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := d.client.EndTransaction(ctx, kgo.TransactionEndTry(commit)); err != nil {
		d.t.Fatal(err)
	}
	d.journal.awaitEnd(ctx, d.t, d.shard, d.topicsWritten)
	d.topicsWritten = nil
}

// Publish writes decisions and a heartbeat in one transaction.
func (d *Decider) Publish(sizes ...*poolsv1.PoolSize) {
	d.t.Helper()
	d.Begin()
	for _, size := range sizes {
		d.Put(d.journal.Decisions, keys.PoolOf(size.GetPool()).Record(), size)
	}
	d.Heartbeat()
	d.End(true)
}

// Explain writes an explanation in a transaction of its own.
func (d *Decider) Explain(pool keys.Pool, explanation *poolsv1.Explanation) {
	d.t.Helper()
	d.Begin()
	d.Put(d.journal.Explanations, pool.Record(), explanation)
	d.Heartbeat()
	d.End(true)
}
