package topics

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Writer writes the reports of callers. A record gets into its shard once, also after retries of the client.
type Writer struct {
	journal Journal
	client  *kgo.Client
}

// NewWriter connects at its first write.
func NewWriter(journal Journal) (*Writer, error) {
	client, err := journal.Client(
		kgo.ClientID("sluice-server-reports"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(time.Millisecond),
		kgo.RecordDeliveryTimeout(10*time.Second),
		kgo.MaxBufferedRecords(10_000),
		kgo.ProducerBatchMaxBytes(900_000), // below the topics' max.message.bytes
	)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", journal.Brokers, err)
	}
	return &Writer{journal, client}, nil
}

// Close waits for the records that are being written.
func (w *Writer) Close() { w.client.Close() }

// Observed writes the size of a target.
func (w *Writer) Observed(ctx context.Context, shard int32, pool keys.Pool, instance string, size *poolsv1.ObservedSize) error {
	return w.write(ctx, w.journal.Observed, pool.Target(instance), size, shard)
}

// Report writes a report under a key, once to each shard: a Report, or a SubsetReport of a subset.
func (w *Writer) Report(ctx context.Context, key string, report proto.Message, shards ...int32) error {
	return w.write(ctx, w.journal.Reports, key, report, shards...)
}

// Deliver writes an xDS client's response to a subset.
func (w *Writer) Deliver(ctx context.Context, shard int32, key keys.Subset, report *subsetsv1.SubsetReport) error {
	return w.write(ctx, w.journal.Reports, key.Record(), report, shard)
}

func (w *Writer) write(ctx context.Context, topic, key string, message proto.Message, shards ...int32) error {
	value, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("write to %s: %w", topic, err)
	}
	records := make([]*kgo.Record, len(shards))
	for i, shard := range shards {
		records[i] = &kgo.Record{Topic: topic, Partition: shard, Key: []byte(key), Value: value}
	}
	if err := w.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write to %s: %w", topic, err)
	}
	return nil
}

// Ends are the offsets after the last committed records of the decisions' shards.
func (w *Writer) Ends(ctx context.Context) ([]int64, error) {
	ends, err := w.journal.ends(ctx, w.client, w.journal.Decisions)
	if err != nil {
		return nil, err
	}
	return ends[w.journal.Decisions], nil
}
