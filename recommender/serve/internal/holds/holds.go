package holds

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

// mostWaiting calls wait for their record at a time.
const mostWaiting = 10_000

// Errors of Claim, beside those of the log.
var (
	// ErrUnread: the log is not read to its end.
	ErrUnread = errors.New("who has which target is not known yet")
	// ErrBusy: more calls wait than may.
	ErrBusy = fmt.Errorf("%d calls wait for the log", mostWaiting)
	// ErrFull: so many targets are remembered that no more can be.
	ErrFull = fmt.Errorf("%d targets are held, or were within the longest lease", MostKept)
)

// Holds follows the log of holds, and writes claims into it.
type Holds struct {
	log    topics.Log
	writer *kgo.Client
	logger *slog.Logger

	mu      sync.Mutex
	fold    *Fold
	whole   bool
	problem string
	waiting map[string]chan []Claimed
	counts  Counts
}

// Counts are targets held as of the newest record, targets that calls here were granted and refused, and records that could
// not be used.
type Counts struct {
	Held                      int
	Granted, Refused, LeftOut uint64
}

// New connects when it first writes; it answers once Run has read the log.
func New(log topics.Log, logger *slog.Logger) (*Holds, error) {
	writer, err := log.Client(
		kgo.ClientID("sluice-server-holds"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(time.Millisecond),
		// What is not written by then never is: no claim comes into the log long after its caller went away.
		kgo.RecordDeliveryTimeout(10*time.Second),
		kgo.MaxBufferedRecords(mostWaiting),
		kgo.ProducerBatchMaxBytes(900_000), // below the topic's max.message.bytes
	)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", log.Brokers, err)
	}
	return &Holds{
		log: log, writer: writer, logger: logger, fold: NewFold(0), problem: "it was not read yet", waiting: map[string]chan []Claimed{},
	}, nil
}

// Close waits for what is being written.
func (h *Holds) Close() { h.writer.Close() }

// Problem says why the log is not read; empty once it is.
func (h *Holds) Problem() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.problem
}

// Counts are since this server began.
func (h *Holds) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := h.counts
	counts.Held = h.fold.Held()
	return counts
}

// Claim writes a call into the log and returns what came of its claims once that was read back. It has to be legal.
// Error: nobody knows; the claim may have been written.
func (h *Holds) Claim(ctx context.Context, who Who, lease time.Duration, targets, releases []string) ([]Claimed, error) {
	record, claimed, err := h.record(who, lease, targets, releases)
	if err != nil {
		return nil, err
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiting, record.GetId())
	}()
	value, err := proto.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("write to %s: %w", h.log.Holds, err)
	}
	written := &kgo.Record{Topic: h.log.Holds, Partition: 0, Key: []byte(who.Holder), Value: value}
	if err := h.writer.ProduceSync(ctx, written).FirstErr(); err != nil {
		return nil, fmt.Errorf("write to %s: %w", h.log.Holds, err)
	}
	select {
	case all := <-claimed:
		return all, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("read from %s: %w", h.log.Holds, ctx.Err())
	}
}

// record is a call as it is written now, and where what comes of it will be told.
func (h *Holds) record(who Who, lease time.Duration, targets, releases []string) (*poolsv1.HoldRecord, <-chan []Claimed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fresh := 0
	record := &poolsv1.HoldRecord{
		Id: rand.Text(), Holder: who.Holder, By: who.By, Lease: durationpb.New(lease), Position: h.fold.Position(),
	}
	for _, target := range targets {
		record.Claims = append(record.Claims, h.fold.View(target))
		if !h.fold.Knows(target) {
			fresh++
		}
	}
	for _, target := range releases {
		record.Releases = append(record.Releases, h.fold.View(target))
	}
	switch {
	case !h.whole:
		return nil, nil, fmt.Errorf("%w: %s: %s", ErrUnread, h.log.Holds, h.problem)
	case len(h.waiting) >= mostWaiting:
		return nil, nil, ErrBusy
	case fresh > 0 && h.fold.Kept()+fresh > MostKept:
		return nil, nil, ErrFull
	}
	claimed := make(chan []Claimed, 1)
	h.waiting[record.GetId()] = claimed
	return record, claimed, nil
}

// take is the next record of the log.
func (h *Holds) take(r *kgo.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record, err := Read(r.Key, r.Value)
	if err != nil {
		h.logger.Error("a record is left out", "topic", r.Topic, "offset", r.Offset, "error", err)
		h.counts.LeftOut++
		h.fold.Skip(uint64(r.Offset), r.Timestamp)
		return
	}
	claimed := h.fold.Take(uint64(r.Offset), r.Timestamp, record)
	to := h.waiting[record.GetId()]
	if to == nil {
		return // of another server
	}
	delete(h.waiting, record.GetId())
	for _, each := range claimed {
		if each.Granted {
			h.counts.Granted++
		} else {
			h.counts.Refused++
		}
	}
	to <- claimed
}
