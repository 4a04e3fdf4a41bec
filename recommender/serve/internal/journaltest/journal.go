// Package journaltest is a journal for tests: in memory, with Kafka's rules for transactions, offsets and compaction (kfake); or
// on the real broker that SLUICE_TEST_KAFKA names, under topics of its own. Deciders write to it as production's do.
package journaltest

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"sluice.dev/serve/internal/topics"
)

// Journal is a journal with empty topics.
type Journal struct {
	topics.Journal
	client *kgo.Client
	fake   *kfake.Cluster
}

// New makes a journal that lasts as long as the test.
func New(t testing.TB, shards int) *Journal {
	t.Helper()
	l := &Journal{}
	brokers := []string{os.Getenv("SLUICE_TEST_KAFKA")}
	if brokers[0] == "" {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
		l.fake, brokers = cluster, cluster.ListenAddrs()
	}
	l.Journal = topics.JournalOf(brokers, shards, "test_"+strings.ToLower(rand.Text()[:10])+"_")
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	l.client = client
	l.Create(t, shards)
	if !l.Fake() {
		t.Cleanup(func() { l.Delete(t) })
	}
	return l
}

// Fake is true if the journal is in memory.
func (l *Journal) Fake() bool { return l.fake != nil }

// Create makes the topics.
func (l *Journal) Create(t testing.TB, shards int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	set := func(text string) *string { return &text }
	compacted := map[string]*string{
		"cleanup.policy": set("compact"), "delete.retention.ms": set("86400000"), "message.timestamp.type": set("LogAppendTime"),
	}
	admin := kadm.NewClient(l.client)
	for name, config := range map[string]map[string]*string{
		l.Decisions: compacted, l.Explanations: compacted, l.Observed: compacted, l.Reports: nil,
	} {
		if created, err := admin.CreateTopic(ctx, int32(shards), 1, config, name); err != nil || created.Err != nil {
			t.Fatal(name, err, created.Err)
		}
	}
	// The controller creates a topic before the broker knows its partitions.
	for {
		ends, err := admin.ListCommittedOffsets(ctx, l.topics()...)
		if err != nil {
			t.Fatal(err)
		}
		if ends.Error() == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *Journal) topics() []string {
	return []string{l.Decisions, l.Explanations, l.Observed, l.Reports}
}

// Delete deletes the topics.
func (l *Journal) Delete(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := kadm.NewClient(l.client).DeleteTopics(ctx, l.topics()...); err != nil {
		t.Fatal(err)
	}
}

// awaitEnd waits until a shard's last transaction has ended in these topics. A broker answers when the end is decided, and
// writes it to each partition later; until then readers see an earlier end.
func (l *Journal) awaitEnd(ctx context.Context, t testing.TB, shard int32, topics []string) {
	t.Helper()
	admin := kadm.NewClient(l.client)
	for settled := len(topics) == 0; !settled; {
		ends, err := admin.ListEndOffsets(ctx, topics...)
		committed, failed := admin.ListCommittedOffsets(ctx, topics...)
		if err = errors.Join(err, failed, ends.Error(), committed.Error()); err != nil {
			t.Fatal(topics, err)
		}
		settled = true
		for _, topic := range topics {
			end, _ := ends.Lookup(topic, shard)
			until, _ := committed.Lookup(topic, shard)
			settled = settled && until.Offset == end.Offset
		}
		if !settled {
			time.Sleep(time.Millisecond)
		}
	}
}

// Compact keeps the newest record of each key; it works in memory only.
func (l *Journal) Compact() { l.fake.Compact() }

// Read returns the records that were committed to a topic so far, in each shard's order.
func (l *Journal) Read(t testing.TB, topic string) (records []*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ends, err := kadm.NewClient(l.client).ListCommittedOffsets(ctx, topic)
	if err = errors.Join(err, ends.Error()); err != nil {
		t.Fatal(topic, err)
	}
	left := 0
	from := map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		left += int(o.Offset)
		from[o.Partition] = kgo.NewOffset().At(0)
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(l.Brokers...), kgo.KeepControlRecords(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			left--
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
		})
	}
	return records
}

// Stop stops the broker; it works in memory only.
func (l *Journal) Stop() { l.fake.Close() }
