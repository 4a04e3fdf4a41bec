package watch

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Lease is the lease that a heartbeat gives to the decisions with ACTION_APPLY. The rest of a lease is counted down from the
// arrival of the heartbeat, on a monotonic clock.
type Lease struct {
	at     time.Time
	until  *timestamppb.Timestamp
	shards map[uint32]*commonv1.ShardLease
	exempt map[pool.Key]*poolsv1.NotRenewed
}

// leaseOf is nil for a heartbeat without a lease: decisions then keep their own.
func leaseOf(event *poolsv1.WatchPoolSizesResponse, at time.Time) *Lease {
	if event.GetHeartbeat().GetValidUntil() == nil {
		return nil
	}
	l := &Lease{
		at: at, until: event.GetHeartbeat().GetValidUntil(),
		shards: map[uint32]*commonv1.ShardLease{}, exempt: map[pool.Key]*poolsv1.NotRenewed{},
	}
	for _, shard := range event.GetHeartbeat().GetShards() {
		l.shards[shard.GetShard()] = shard
	}
	for _, lease := range event.GetNotRenewed() {
		l.exempt[pool.FromProto(lease.GetPool())] = lease
	}
	return l
}

// of returns the end of a decision's lease and its rest at now; left is nil where the recommender does not send it.
func (l *Lease) of(key pool.Key, shard uint32, now time.Time) (until *timestamppb.Timestamp, left *durationpb.Duration) {
	until = l.until
	if lease, named := l.shards[shard]; named {
		until, left = lease.GetValidUntil(), lease.GetLeaseLeft()
	}
	if lease, named := l.exempt[key]; named {
		until, left = lease.GetValidUntil(), lease.GetLeaseLeft()
	}
	if left == nil {
		return until, nil
	}
	return until, durationpb.New(max(0, left.AsDuration()-now.Sub(l.at)))
}
