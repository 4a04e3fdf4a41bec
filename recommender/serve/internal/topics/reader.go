package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sluice.dev/serve/internal/health"
	"sluice.dev/serve/internal/table"
)

const (
	// firstPause and lastPause bound the wait before the journal is read again from its start after a failure.
	firstPause, lastPause = 500 * time.Millisecond, 10 * time.Second
	// checkInterval is the time between two checks that the topic was not replaced.
	checkInterval = 4 * time.Second
	// idleAfter is the time without a record after which the reader suspects the end of the journal.
	idleAfter = 300 * time.Millisecond
	// turnLimit is more than a turn of the reader takes while no broker answers: 10 s for each of its requests.
	turnLimit = time.Minute
)

// Reading is the content of the journal. Servers answer calls from it.
type Reading struct {
	Tables       *table.Tables
	Explanations *Index
}

// Reader follows the journal.
type Reader struct {
	journal Journal
	logger  *slog.Logger
	now     func() time.Time
	// ready receives each reading once it has all of the journal as of its start.
	ready func(Reading)

	lag     atomic.Int64
	problem atomic.Pointer[string]
	loop    *health.Loop
}

// NewReader does not read before Run.
func NewReader(journal Journal, logger *slog.Logger, ready func(Reading)) *Reader {
	return &Reader{journal: journal, logger: logger, now: time.Now, ready: ready, loop: health.NewLoop("reader of the journal", turnLimit)}
}

// Live has a cause once the reader stands still. A reader that finds no broker turns: it tries again.
func (r *Reader) Live() []string { return r.loop.Causes() }

// Lag is the number of offsets between the reader and the last known end of the journal.
func (r *Reader) Lag() int64 { return r.lag.Load() }

// Problem explains why the journal is not read, or has the progress; empty once it is read.
func (r *Reader) Problem() string {
	if text := r.problem.Load(); text != nil {
		return *text
	}
	return ""
}

func (r *Reader) setProblem(text string) { r.problem.Store(&text) }

// Run reads until ctx is done, and again after a failure. The server uses the earlier reading meanwhile, as long as its
// leases last.
func (r *Reader) Run(ctx context.Context) {
	r.setProblem("the server has not read the journal yet")
	pause := firstPause
	for ctx.Err() == nil {
		r.loop.Turn()
		start := r.now()
		err := r.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		r.setProblem(err.Error())
		r.logger.Error("reading the journal again from its start", "error", err)
		if r.now().Sub(start) > time.Minute {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

func (r *Reader) follow(ctx context.Context) error {
	client, err := r.journal.Client(
		kgo.ClientID("sluice-server"),
		kgo.ConsumePartitions(r.journal.fromStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.KeepControlRecords(), // they have offsets: the last record of a transaction is the broker's
		kgo.FetchMaxBytes(8<<20),
		kgo.FetchMaxPartitionBytes(1<<20),
		kgo.MetadataMinAge(time.Second),
	)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer client.Close()
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	state, err := r.journal.describe(within, client)
	if err != nil {
		return err
	}
	p := &pass{
		Reader: r, client: client, description: state,
		reading: Reading{table.NewTables(state.topic, r.journal.Shards, state.retention, r.now), NewIndex()},
		at:      map[string][]int64{r.journal.Decisions: make([]int64, r.journal.Shards), r.journal.Explanations: make([]int64, r.journal.Shards)},
	}
	return p.run(ctx)
}

func (l Journal) fromStart() map[string]map[int32]kgo.Offset {
	offsets := map[int32]kgo.Offset{}
	for i := range l.Shards {
		offsets[int32(i)] = kgo.NewOffset().AtStart()
	}
	return map[string]map[int32]kgo.Offset{l.Decisions: offsets, l.Explanations: offsets}
}

// checkTopicID checks that the topic was not replaced.
func (r *Reader) checkTopicID(ctx context.Context, client *kgo.Client, topic table.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	topics, err := kadm.NewClient(client).ListTopics(ctx, r.journal.Decisions)
	if err != nil {
		return nil // no broker answers: not known
	}
	detail := topics[r.journal.Decisions]
	switch {
	case detail.Err != nil:
		return fmt.Errorf("read %s: %w", r.journal.Decisions, detail.Err)
	case table.Topic(detail.ID) != topic:
		return fmt.Errorf("read %s: another topic of its name replaced it", r.journal.Decisions)
	case len(detail.Partitions) != r.journal.Shards:
		return fmt.Errorf("read %s: it has %d partitions now; configured are %d shards", r.journal.Decisions, len(detail.Partitions), r.journal.Shards)
	}
	return nil
}

// fatal is true for an error of a fetch that could make the reader skip records; the client retries other errors itself.
func fatal(err error) bool {
	return !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}
