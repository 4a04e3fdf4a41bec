package table

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Tables has the records of the topic of decisions, in a table for each kind. The records of a transaction become visible first
// in the table of containers, then in that of subsets, then in those of candidates and pools.
type Tables struct {
	Pools      *Pools
	Candidates *Candidates
	Subsets    *Subsets
	Containers *Containers
	// Tunings become visible before the Answers to the commands that changed them.
	Tunings *Tunings
	Answers *Answers
	shards  int
	leftOut atomic.Int64
}

// NewTables is empty. The tables keep removals for retention.
func NewTables(topic Topic, shards int, retention time.Duration, now func() time.Time) *Tables {
	return &Tables{
		Pools:      New(PoolKind, topic, shards, retention, now),
		Candidates: New(CandidateKind, topic, shards, retention, now),
		Subsets:    New(SubsetKind, topic, shards, retention, now),
		Containers: New(ContainersKind, topic, shards, retention, now),
		Tunings:    New(TuningKind, topic, shards, retention, now),
		Answers:    New(AnswersKind, topic, shards, retention, now),
		shards:     shards,
	}
}

// LeftOut counts the records that the tables could not use.
func (l *Tables) LeftOut() int64 { return l.leftOut.Load() }

// Tick wakes every watcher.
func (l *Tables) Tick() {
	l.Tunings.Tick()
	l.Subsets.Tick()
	l.Pools.Tick()
}

// Close ends every watch: another topic replaced this one.
func (l *Tables) Close() {
	l.Answers.Close()
	l.Tunings.Close()
	l.Containers.Close()
	l.Subsets.Close()
	l.Candidates.Close()
	l.Pools.Close()
}

// Take takes one committed record, in its partition's order. The record becomes visible with the next heartbeat of its shard.
// written is the record's time, read the time of its arrival. An error names a record that was left out; all others still
// count.
func (l *Tables) Take(shard int32, offset int64, key, value []byte, written, read time.Time) error {
	if err := l.take(shard, offset, string(key), value, written, read); err != nil {
		l.leftOut.Add(1)
		return fmt.Errorf("read shard %d, offset %d: %w", shard, offset, err)
	}
	return nil
}

func (l *Tables) take(shard int32, offset int64, key string, value []byte, written, read time.Time) error {
	kind, _, _ := strings.Cut(key, "/")
	switch kind {
	case "shard":
		return l.heartbeat(shard, offset, key, value, written, read)
	case "candidate":
		return l.Candidates.stage(shard, offset, key, value)
	case "subset":
		return l.Subsets.stage(shard, offset, key, value)
	case "containers":
		return l.Containers.stage(shard, offset, key, value)
	case "session", "trial":
		return l.Tunings.stage(shard, offset, key, value)
	case "answers":
		return l.Answers.stage(shard, offset, key, value)
	default:
		return l.Pools.stage(shard, offset, key, value)
	}
}

func (l *Tables) heartbeat(shard int32, offset int64, key string, value []byte, written, read time.Time) error {
	number, _, err := keys.ParseShard(key)
	if err != nil {
		return err
	}
	if number != shard {
		return fmt.Errorf("a heartbeat of shard %d", number)
	}
	beat := &poolsv1.ShardHeartbeat{}
	if err := proto.Unmarshal(value, beat); err != nil {
		return fmt.Errorf("a heartbeat: %w", err)
	}
	if int(beat.GetShards()) != l.shards || beat.GetShard() != uint32(shard) {
		return fmt.Errorf("a heartbeat of shard %d of %d; there are %d", beat.GetShard(), beat.GetShards(), l.shards)
	}
	if beat.GetLease().AsDuration() <= 0 || beat.GetLease().CheckValid() != nil {
		return fmt.Errorf("a heartbeat with a lease of %v", beat.GetLease().AsDuration())
	}
	previous := l.Pools.View().Shards[shard].Lease
	if previous != nil && beat.GetGeneration() < previous.Generation {
		return fmt.Errorf("a heartbeat of generation %d after %d", beat.GetGeneration(), previous.Generation)
	}
	lease := newLease(beat, written, read)
	l.Tunings.publish(shard, offset+1, lease)
	l.Answers.publish(shard, offset+1, lease)
	l.Containers.publish(shard, offset+1, lease)
	l.Subsets.publish(shard, offset+1, lease)
	l.Candidates.publish(shard, offset+1, lease)
	l.Pools.publish(shard, offset+1, lease)
	return nil
}
