package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/topics"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var cart = journaltest.Server("cart")

// tables is a database that may be away, or refuse some rows.
type tables struct {
	mu      sync.Mutex
	away    bool
	refused func(Row) bool
	rows    map[string][]Row
	// slow is called before rows are taken; nil: rows are taken at once. drain is that of the writer.
	slow  func(context.Context)
	drain time.Duration
	// progress is that of the writer.
	progress *Progress
}

func (d *tables) insert(ctx context.Context, table string, rows []Row) error {
	if d.slow != nil {
		d.slow(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return errors.New("it is away")
	}
	if d.refused != nil && slices.ContainsFunc(rows, d.refused) {
		return fmt.Errorf("%w: a row", ErrRefused)
	}
	if d.rows == nil {
		d.rows = map[string][]Row{}
	}
	d.rows[table] = append(d.rows[table], rows...)
	return nil
}

func (d *tables) column(table, column string) (values []any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range d.rows[table] {
		values = append(values, row[column])
	}
	return values
}

func run(t *testing.T, journal *journaltest.Journal, d *tables) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	progress, err := NewProgress(journal.Journal, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(done)
		_ = Recorder{
			Journal: journal.Journal, Insert: d.insert, Progress: progress, Logger: slog.New(slog.DiscardHandler), Drain: d.drain, Loop: NewLoop(),
		}.Run(ctx)
	}()
	stop = func() { cancel(); <-done; progress.Close() }
	t.Cleanup(stop)
	d.progress = progress
	return stop
}

func eventually(t *testing.T, name string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + name)
		}
	}
}

func TestOnlyWhatIsCommittedIsRecordedAndGoesOnAfterARestart(t *testing.T) {
	journal := journaltest.New(t, 1)
	decider := journal.Decider(t, 0)
	decider.Publish(journaltest.Apply(cart, 1, 8))
	decider.Begin()
	decider.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 9))
	decider.End(false)
	decider.Publish(journaltest.Apply(cart, 2, 10))
	d := &tables{}
	stop := run(t, journal, d)
	eventually(t, "two rows", func() bool { return len(d.column("recommendations", "revision")) == 2 })
	time.Sleep(100 * time.Millisecond) // for the offsets
	stop()
	decider.Publish(journaltest.Apply(cart, 3, 11))
	run(t, journal, d)
	eventually(t, "the third", func() bool { return slices.Contains(d.column("recommendations", "revision"), any(uint64(3))) })
	if got := fmt.Sprint(d.column("recommendations", "revision")); got != "[1 2 3]" {
		t.Error(got)
	}
}

func TestWhileTheDatabaseIsAwayNothingIsLeftOut(t *testing.T) {
	journal := journaltest.New(t, 1)
	decider := journal.Decider(t, 0)
	d := &tables{away: true}
	run(t, journal, d)
	for n := range uint64(5) {
		decider.Publish(journaltest.Apply(cart, n+1, 8))
	}
	time.Sleep(50 * time.Millisecond)
	d.mu.Lock()
	d.away = false
	d.mu.Unlock()
	eventually(t, "all rows", func() bool { return fmt.Sprint(d.column("recommendations", "revision")) == "[1 2 3 4 5]" })
}

func TestARowThatIsRefusedStopsNoOther(t *testing.T) {
	journal := journaltest.New(t, 1)
	var sizes []*poolsv1.PoolSize
	for n := range 7 {
		sizes = append(sizes, journaltest.Apply(journaltest.Server(fmt.Sprint("s", n)), uint64(n+1), 8))
	}
	journal.Decider(t, 0).Publish(sizes...)
	d := &tables{refused: func(row Row) bool { return row["revision"] == uint64(4) }}
	run(t, journal, d)
	eventually(t, "the others", func() bool { return fmt.Sprint(d.column("recommendations", "revision")) == "[1 2 3 5 6 7]" })
}

func TestReportsHaveTheirTables(t *testing.T) {
	journal := journaltest.New(t, 1)
	w, err := topics.NewWriter(journal.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d := &tables{}
	run(t, journal, d)
	size := uint32(8)
	for _, tt := range []*poolsv1.Report{
		{Report: &poolsv1.Report_Actuation{Actuation: &poolsv1.Actuation{Pool: cart.Proto(), TargetName: "t", Outcome: 2, ReadBack: &size}}, RequestId: "r", By: "bob"},
		{Report: &poolsv1.Report_Pause{Pause: &poolsv1.Pause{Pool: cart.Proto(), Paused: true}}, By: "ann"},
		{Report: &poolsv1.Report_Scaling{Scaling: &commonv1.ScalingEvent{Service: "cart", Source: "hpa"}}, By: "eve"},
		{}, // of a later version
	} {
		tt.Received = timestamppb.Now()
		if err := w.Report(t.Context(), cart.Record(), tt, 0); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the rows", func() bool {
		return len(d.column("actuations", "at"))+len(d.column("pool_pauses", "at"))+len(d.column("scaling_events", "at")) == 3
	})
	for _, tt := range []struct{ table, column, want string }{
		{"actuations", "outcome", "APPLIED"}, {"actuations", "instance", "t"}, {"actuations", "request_id", "r"},
		{"actuations", "by", "bob"}, {"pool_pauses", "by", "ann"}, {"scaling_events", "by", "eve"}, {"scaling_events", "source", "hpa"},
	} {
		if got := d.column(tt.table, tt.column)[0]; got != tt.want {
			t.Errorf("%s.%s: %v, want %s", tt.table, tt.column, got, tt.want)
		}
	}
	if partition, offset := d.column("actuations", "log_partition")[0], d.column("actuations", "log_offset")[0]; partition != int32(0) || offset != int64(0) {
		t.Errorf("at %v of %v, want the first record of partition 0", offset, partition)
	}
}

// The rows that were read before the end are written and committed: a successor does not write them again.
func TestTheEndWaitsForRowsUnderWay(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	d := &tables{drain: time.Minute, slow: func(context.Context) { begun <- struct{}{}; <-goOn }}
	stop := run(t, journal, d)
	<-begun
	ended := make(chan struct{})
	go func() { defer close(ended); stop() }()
	time.Sleep(50 * time.Millisecond)
	close(goOn)
	<-ended
	d.slow = nil
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 2, 9))
	run(t, journal, d)
	eventually(t, "the second", func() bool { return slices.Contains(d.column("recommendations", "revision"), any(uint64(2))) })
	if got := fmt.Sprint(d.column("recommendations", "revision")); got != "[1 2]" {
		t.Error(got)
	}
}

// A database that takes no rows does not keep the process: after the drain the rows stay in the journal.
func TestTheEndWaitsNoLongerThanTheDrain(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	begun := make(chan struct{}, 1)
	d := &tables{drain: 20 * time.Millisecond, slow: func(ctx context.Context) { begun <- struct{}{}; <-ctx.Done() }}
	stop := run(t, journal, d)
	<-begun
	stop()
	d.slow = nil
	run(t, journal, d)
	eventually(t, "the row of the journal", func() bool { return fmt.Sprint(d.column("recommendations", "revision")) == "[1]" })
}
