// Package watch keeps the recommender's newest answers, and the last good ones when it is lost.
package watch

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/actuators/internal/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Source is where answers come from: Run receives, Latest shows. Watcher is the one there is.
type Source interface {
	// Run keeps Latest current until ctx ends.
	Run(ctx context.Context)
	// Latest returns at once, whatever the recommender does.
	Latest() Snapshot
}

// Snapshot is everything known at one instant. It is shared and never changed.
type Snapshot struct {
	// Sizes are the last answers received, also when the recommender was lost since. nil before the first. Their
	// leases are those that they came with: Answer knows the renewed ones.
	Sizes map[pool.Key]*poolsv1.PoolSize
	// Lease is that of the newest heartbeat, which answers to apply have instead of their own; nil when none came
	// since Sizes.
	Lease *Lease
	// ReceivedAt is when Sizes came or were confirmed; zero before the first.
	ReceivedAt time.Time
	// Err is why the recommender is lost; nil while it is reachable.
	Err error
	// Superseded is closed when other answers have come.
	Superseded <-chan struct{}
}

// Reachable reports whether answers are being received.
func (s Snapshot) Reachable() bool { return s.Err == nil && !s.ReceivedAt.IsZero() }

// Answer returns the answer for a pool with the lease that it has now; nil when there is none.
func (s Snapshot) Answer(key pool.Key) *poolsv1.PoolSize {
	answer := s.Sizes[key]
	if answer == nil || s.Lease == nil || answer.GetAction() != commonv1.Action_ACTION_APPLY {
		return answer
	}
	renewed := proto.CloneOf(answer)
	renewed.ValidUntil, renewed.LeaseLeft = s.Lease.of(key, answer.GetShard(), time.Now())
	return renewed
}
