package table

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Lease is the end of the time in which the decisions of a shard may be applied. It does not change; each heartbeat brings
// another.
type Lease struct {
	ComputedAt time.Time
	Generation uint64
	// Until is the time of the heartbeat's record plus the lease, by the broker's clock.
	Until time.Time
	// deadline is the same end on this process's monotonic clock: the time of reading plus the lease, less the heartbeat's age
	// at that time.
	deadline time.Time
	exempt   map[keys.Pool]time.Time
	// NotRenewed has the decisions whose leases the heartbeat does not renew.
	NotRenewed []*poolsv1.NotRenewed
}

// newLease is the lease of a heartbeat whose record has the time `written` and was read at `read`.
func newLease(beat *poolsv1.ShardHeartbeat, written, read time.Time) *Lease {
	length := beat.GetLease().AsDuration()
	age := max(0, read.Sub(written.Round(0)))
	l := &Lease{
		ComputedAt: beat.GetComputedAt().AsTime(),
		Generation: beat.GetGeneration(),
		Until:      written.Round(0).Add(length),
		deadline:   read.Add(length - age),
		NotRenewed: beat.GetNotRenewed(),
	}
	if len(l.NotRenewed) > 0 {
		l.exempt = make(map[keys.Pool]time.Time, len(l.NotRenewed))
		for _, exempt := range l.NotRenewed {
			l.exempt[keys.PoolOf(exempt.GetPool())] = exempt.GetValidUntil().AsTime()
		}
	}
	return l
}

// Computed is the start of the newest period that made the decision of e, in which its record was written, or later.
func (l *Lease) Computed(e *Pool) *timestamppb.Timestamp {
	if _, ok := l.exempt[e.Key]; ok || l.ComputedAt.Before(e.Publication.GetComputedAt().AsTime()) {
		return e.Publication.GetComputedAt()
	}
	return timestamppb.New(l.ComputedAt)
}

// Left is the rest of the shard's lease at now; 0 when it is over. A clock that was set forward ends a lease early; one that
// was set back does not lengthen it.
func (l *Lease) Left(now time.Time) time.Duration {
	return max(0, min(l.deadline.Sub(now), l.Until.Sub(now.Round(0))))
}

// For is the end of one decision's lease, and its rest.
func (l *Lease) For(pool keys.Pool, now time.Time) (until time.Time, left time.Duration) {
	if end, ok := l.exempt[pool]; ok {
		return end, max(0, min(end.Sub(now.Round(0)), l.Left(now)))
	}
	return l.Until, l.Left(now)
}
