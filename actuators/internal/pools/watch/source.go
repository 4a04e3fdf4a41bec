// Package watch keeps the recommender's newest decisions, and the last good ones when the recommender is lost. In this
// package, answer is a decision of the recommender for one pool.
package watch

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Source receives decisions with Run and returns them with Latest. Watcher implements it.
type Source interface {
	// Run keeps Latest current until ctx ends.
	Run(ctx context.Context)
	// Latest returns at once, whatever the recommender does.
	Latest() Snapshot
}

// Snapshot is the state at one instant. It is shared and never changed.
type Snapshot struct {
	// Sizes are the last decisions received, also when the recommender was lost since; nil before the first. They have the
	// leases that they arrived with: Answer returns the renewed ones.
	Sizes map[pool.Key]*poolsv1.PoolSize
	// Lease is that of the newest heartbeat, which decisions to APPLY have instead of their own; nil when no heartbeat came
	// since Sizes.
	Lease *Lease
	// ReceivedAt is when Sizes were received or confirmed; zero before the first.
	ReceivedAt time.Time
	// Err is why the recommender is lost; nil while it is reachable.
	Err error
	// Superseded is closed when other decisions were received.
	Superseded <-chan struct{}
}

// Reachable is true while decisions are being received.
func (s Snapshot) Reachable() bool { return s.Err == nil && !s.ReceivedAt.IsZero() }

// Answer returns the decision for a pool with the lease that it has now; nil when there is none.
func (s Snapshot) Answer(key pool.Key) *poolsv1.PoolSize {
	answer := s.Sizes[key]
	if answer == nil || s.Lease == nil || answer.GetAction() != commonv1.Action_ACTION_APPLY {
		return answer
	}
	renewed := proto.CloneOf(answer)
	renewed.ValidUntil, renewed.LeaseLeft = s.Lease.of(key, answer.GetShard(), time.Now())
	return renewed
}
