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

	"sluice.dev/serve/internal/health"
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

const (
	// firstPause and lastPause bound the wait for a database that does not take rows.
	firstPause, lastPause = 500 * time.Millisecond, 30 * time.Second
	// pollTime bounds the wait for records.
	pollTime = 5 * time.Second
	// turnLimit is more than a turn takes: an insert that no replica answers, and the pause after it.
	turnLimit = 10 * time.Minute
)

// Recorder writes the committed records of the journal into the tables.
type Recorder struct {
	Journal  topics.Journal
	Insert   Insert
	Progress *Progress
	Logger   *slog.Logger
	// Drain bounds how long rows that were read before the end of Run's context may still be written.
	Drain time.Duration
	// Loop turns with the Recorder; nil: nobody watches it.
	Loop *health.Loop
}

// NewLoop is the Loop of a Recorder.
func NewLoop() *health.Loop { return health.NewLoop("writer of records", turnLimit) }

// Run writes until ctx is done, and then the rows that it has read. It commits offsets after the rows: a row may be written
// twice, which the tables merge into one, and no row is lost. While the database is away the journal keeps the records.
func (r Recorder) Run(ctx context.Context) error {
	client, err := r.Journal.Client(
		kgo.ClientID(Group),
		kgo.ConsumerGroup(consumerGroup(r.Journal)),
		kgo.ConsumeTopics(r.Journal.Decisions, r.Journal.Explanations, r.Journal.Reports),
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
	work, cancel := outlive(ctx, r.Drain)
	defer cancel()
	w := &writer{Recorder: r, leases: map[int32]time.Duration{}}
	for ctx.Err() == nil {
		r.Loop.Turn()
		within, stopPoll := context.WithTimeout(ctx, pollTime)
		fetches := client.PollFetches(within)
		stopPoll()
		for _, failure := range fetches.Errors() {
			if ctx.Err() == nil && !errors.Is(failure.Err, context.DeadlineExceeded) {
				r.Logger.Warn("cannot read the journal", "topic", failure.Topic, "shard", failure.Partition, "error", failure.Err)
				sleep(ctx, firstPause)
			}
		}
		if !w.write(ctx, work, fetches.Records()) {
			break
		}
		if err := client.CommitUncommittedOffsets(work); err != nil {
			r.Logger.Warn("cannot commit offsets: rows will be written again", "error", err)
		}
		client.AllowRebalance()
	}
	return nil
}

func consumerGroup(journal topics.Journal) string { return journal.Decisions + "-" + Group }

// outlive returns a context that ends the drain after ctx.
func outlive(ctx context.Context, drain time.Duration) (work context.Context, cancel context.CancelFunc) {
	work, cancel = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(drain, cancel) })
	return work, cancel
}

type writer struct {
	Recorder
	leases map[int32]time.Duration
}

// write returns when all rows are in the tables; false when it gave up because ctx was done: a write of rows may last as long as
// work, but is not tried again.
func (w *writer) write(ctx, work context.Context, records []*kgo.Record) bool {
	w.Progress.setWaiting(records)
	tables := map[string][]Row{}
	for _, record := range records {
		if record.Attrs.IsControl() {
			continue
		}
		found, err := w.rows(record)
		if err != nil {
			w.Progress.leftOut.WithLabelValues(record.Topic).Inc()
			w.Logger.Error("a record was left out", "topic", record.Topic, "shard", record.Partition, "offset", record.Offset, "error", err)
		}
		for table, rows := range found {
			tables[table] = append(tables[table], rows...)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if !w.put(ctx, work, table, tables[table]) {
			return false
		}
	}
	w.Progress.setWaiting(nil)
	return true
}

// put waits for a database that is away. When the database refuses some rows, put halves them until it has found the refused ones.
func (w *writer) put(ctx, work context.Context, table string, rows []Row) bool {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		w.Loop.Turn()
		err := w.Insert(work, table, rows)
		switch {
		case err == nil:
			w.Progress.rows.WithLabelValues(table).Add(float64(len(rows)))
			return true
		case errors.Is(err, ErrRefused) && len(rows) == 1:
			w.Logger.Error("a row was left out", "table", table, "error", err)
			w.Progress.refused.WithLabelValues(table).Inc()
			return true
		case errors.Is(err, ErrRefused):
			half := len(rows) / 2
			return w.put(ctx, work, table, rows[:half]) && w.put(ctx, work, table, rows[half:])
		case ctx.Err() != nil:
			return false
		}
		w.Progress.failures.Inc()
		w.Logger.Error("rows wait in the journal", "table", table, "rows", len(rows), "error", err)
		sleep(ctx, pause)
	}
}

// rows has the rows of a record by table; none where err is not nil.
func (w *writer) rows(record *kgo.Record) (map[string][]Row, error) {
	kind, _, _ := strings.Cut(string(record.Key), "/")
	switch {
	case record.Topic == w.Journal.Explanations && kind == keys.Critical:
		return criticalServices(record)
	case record.Topic == w.Journal.Explanations && kind == "pair":
		return pair(record)
	}
	table, row, err := w.row(record)
	if err != nil || row == nil {
		return nil, err
	}
	return map[string][]Row{table: {row}}, nil
}

func (w *writer) row(record *kgo.Record) (table string, row Row, err error) {
	kind, _, _ := strings.Cut(string(record.Key), "/")
	switch {
	case record.Topic == w.Journal.Reports && kind == "subset":
		row, err = delivery(record)
		return "subset_deliveries", row, err
	case kind == "trial":
		row, err = trial(record)
		return "tuning_trials", row, err
	case kind == "session", kind == "answers":
		return "", nil, nil // plans and phases of tuning sessions: the journal keeps them as long as the sessions exist
	case record.Topic == w.Journal.Reports:
		return report(record)
	case record.Topic == w.Journal.Explanations && kind == "pool":
		row, err = belief(record)
		return "pool_beliefs", row, err
	case record.Topic == w.Journal.Explanations:
		return "", nil, nil // other explanations of the present have no table
	case kind == "candidate":
		row, err = candidate(record)
		return "pool_candidates", row, err
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
