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

	"sluice.dev/serve/internal/table"
)

const (
	// firstPause and lastPause bound the wait before the log is read anew after a failure.
	firstPause, lastPause = 500 * time.Millisecond, 10 * time.Second
	// looked is how often the brokers are asked whether the topic still is the one that is read.
	looked = 4 * time.Second
	// idle is how long nothing comes before the end of the log is suspected.
	idle = 300 * time.Millisecond
)

// Reading is the log as it was read: what servers answer from.
type Reading struct {
	Log          *table.Log
	Explanations *Index
}

// Reader follows the log.
type Reader struct {
	log    Log
	logger *slog.Logger
	now    func() time.Time
	// ready is given each reading when it has the whole log as of when it began.
	ready func(Reading)

	lag     atomic.Int64
	problem atomic.Pointer[string]
}

// NewReader does not read before Run.
func NewReader(log Log, logger *slog.Logger, ready func(Reading)) *Reader {
	return &Reader{log: log, logger: logger, now: time.Now, ready: ready}
}

// Lag is how many offsets the reader is behind the end of the log, as last heard.
func (r *Reader) Lag() int64 { return r.lag.Load() }

// Problem says why the log is not read, or how far it is; empty once it is read.
func (r *Reader) Problem() string {
	if text := r.problem.Load(); text != nil {
		return *text
	}
	return ""
}

func (r *Reader) say(text string) { r.problem.Store(&text) }

// Run reads until ctx is done. A log that cannot be read is tried again; what was read before is served meanwhile, as
// long as its leases last.
func (r *Reader) Run(ctx context.Context) {
	r.say("the log was not read yet")
	pause := firstPause
	for ctx.Err() == nil {
		began := r.now()
		err := r.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		r.say(err.Error())
		r.logger.Error("the log is read anew", "error", err)
		if r.now().Sub(began) > time.Minute {
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
	client, err := r.log.Client(
		kgo.ClientID("sluice-server"),
		kgo.ConsumePartitions(r.log.fromStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.KeepControlRecords(), // they take offsets: the last record of a transaction is the broker's
		kgo.FetchMaxBytes(8<<20),
		kgo.FetchMaxPartitionBytes(1<<20),
		kgo.MetadataMinAge(time.Second),
	)
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	defer client.Close()
	asked, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	state, err := r.log.ask(asked, client)
	if err != nil {
		return err
	}
	p := &pass{
		Reader: r, client: client, state: state,
		reading: Reading{table.NewLog(state.topic, r.log.Shards, state.remembered, r.now), NewIndex()},
		at:      map[string][]int64{r.log.Decisions: make([]int64, r.log.Shards), r.log.Explanations: make([]int64, r.log.Shards)},
	}
	return p.run(ctx)
}

func (l Log) fromStart() map[string]map[int32]kgo.Offset {
	all := map[int32]kgo.Offset{}
	for i := range l.Shards {
		all[int32(i)] = kgo.NewOffset().AtStart()
	}
	return map[string]map[int32]kgo.Offset{l.Decisions: all, l.Explanations: all}
}

// same asks whether the topic is still the one that is read.
func (r *Reader) same(ctx context.Context, client *kgo.Client, topic table.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, err := kadm.NewClient(client).ListTopics(ctx, r.log.Decisions)
	if err != nil {
		return nil // no broker answers: nobody knows
	}
	detail := found[r.log.Decisions]
	switch {
	case detail.Err != nil:
		return fmt.Errorf("read %s: %w", r.log.Decisions, detail.Err)
	case table.Topic(detail.ID) != topic:
		return fmt.Errorf("read %s: it was replaced by another of its name", r.log.Decisions)
	case len(detail.Partitions) != r.log.Shards:
		return fmt.Errorf("read %s: it has %d partitions now; configured are %d shards", r.log.Decisions, len(detail.Partitions), r.log.Shards)
	}
	return nil
}

// fatal is an error of a fetch after which going on could skip records; the client retries what it can by itself.
func fatal(err error) bool {
	return !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}
