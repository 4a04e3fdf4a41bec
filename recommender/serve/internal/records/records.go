package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Group is the consumer group: several processes share the shards, and one that restarts continues where it was.
const Group = "sluice-records"

// ErrRefused means that the database is reachable but refuses the data.
var ErrRefused = errors.New("ClickHouse refuses it")

// Insert writes rows to a table, all or none.
type Insert func(ctx context.Context, table string, rows []Row) error

// firstPause and lastPause bound the wait for a database that does not take rows.
const firstPause, lastPause = 500 * time.Millisecond, 30 * time.Second

// Run writes the committed records of the journal into the tables until ctx is done. It commits offsets after the rows: a row may
// be written twice, which the tables merge into one, and no row is lost. While the database is away the journal keeps the
// records.
func Run(ctx context.Context, journal topics.Journal, insert Insert, progress *Progress, logger *slog.Logger) error {
	client, err := journal.Client(
		kgo.ClientID(Group),
		kgo.ConsumerGroup(consumerGroup(journal)),
		kgo.ConsumeTopics(journal.Decisions, journal.Explanations, journal.Reports),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), // they have offsets: without them a lag of one would remain
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxBytes(8<<20),
	)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer client.CloseAllowingRebalance()
	w := &writer{journal: journal, insert: insert, progress: progress, logger: logger, leases: map[int32]time.Duration{}}
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		for _, failure := range fetches.Errors() {
			if ctx.Err() == nil {
				logger.Warn("cannot read the journal", "topic", failure.Topic, "shard", failure.Partition, "error", failure.Err)
				sleep(ctx, firstPause)
			}
		}
		if !w.write(ctx, fetches.Records()) {
			break
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil && ctx.Err() == nil {
			logger.Warn("cannot commit offsets: rows will be written again", "error", err)
		}
		client.AllowRebalance()
	}
	return nil
}

func consumerGroup(journal topics.Journal) string { return journal.Decisions + "-" + Group }

type writer struct {
	journal  topics.Journal
	insert   Insert
	progress *Progress
	logger   *slog.Logger
	leases   map[int32]time.Duration
}

// write returns when all rows are in the tables; false when ctx was done before.
func (w *writer) write(ctx context.Context, records []*kgo.Record) bool {
	w.progress.setWaiting(records)
	tables := map[string][]Row{}
	for _, record := range records {
		if record.Attrs.IsControl() {
			continue
		}
		table, row, err := w.row(record)
		if err != nil {
			w.progress.leftOut.WithLabelValues(record.Topic).Inc()
			w.logger.Error("a record was left out", "topic", record.Topic, "shard", record.Partition, "offset", record.Offset, "error", err)
		} else if row != nil {
			tables[table] = append(tables[table], row)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if !w.put(ctx, table, tables[table]) {
			return false
		}
	}
	w.progress.setWaiting(nil)
	return true
}

// put waits for a database that is away. When the database refuses some rows, put halves them until it has found the refused ones.
func (w *writer) put(ctx context.Context, table string, rows []Row) bool {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := w.insert(ctx, table, rows)
		switch {
		case err == nil:
			w.progress.rows.WithLabelValues(table).Add(float64(len(rows)))
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, ErrRefused) && len(rows) == 1:
			w.logger.Error("a row was left out", "table", table, "error", err)
			w.progress.refused.WithLabelValues(table).Inc()
			return true
		case errors.Is(err, ErrRefused):
			half := len(rows) / 2
			return w.put(ctx, table, rows[:half]) && w.put(ctx, table, rows[half:])
		}
		w.progress.failures.Inc()
		w.logger.Error("rows wait in the journal", "table", table, "rows", len(rows), "error", err)
		sleep(ctx, pause)
	}
}

func (w *writer) row(record *kgo.Record) (table string, row Row, err error) {
	kind, _, _ := strings.Cut(string(record.Key), "/")
	switch {
	case record.Topic == w.journal.Reports && kind == "subset":
		row, err = delivery(record)
		return "subset_deliveries", row, err
	case kind == "session", kind == "trial", kind == "answers":
		return "", nil, nil // records of tuning sessions: the journal keeps them as long as the sessions exist
	case record.Topic == w.journal.Reports:
		return report(record)
	case record.Topic == w.journal.Explanations && kind == "pair":
		row, err = latencyModel(record)
		return "latency_models", row, err
	case record.Topic == w.journal.Explanations:
		return "", nil, nil // explanations of the present have no table
	case kind == "subset":
		row, err = subset(record)
		return "subsets", row, err
	case kind == "containers":
		return "", nil, nil // the rows of subsets name them
	}
	if _, beat, _ := keys.ParseShard(string(record.Key)); beat {
		heartbeat := &poolsv1.ShardHeartbeat{}
		if proto.Unmarshal(record.Value, heartbeat) == nil {
			w.leases[record.Partition] = heartbeat.GetLease().AsDuration()
		}
		return "", nil, nil
	}
	lease, known := w.leases[record.Partition]
	if !known {
		lease = defaultLease
	}
	row, err = decision(record, lease)
	return "recommendations", row, err
}

func sleep(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}
