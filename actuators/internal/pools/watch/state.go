package watch

import (
	"maps"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// state is the sum of the events of WatchPoolSizes, with the lease of the newest heartbeat.
type state struct {
	reconcile.Feed[pool.Key, *poolsv1.PoolSize]
	lease *Lease
}

func newState() *state {
	return &state{Feed: reconcile.Feed[pool.Key, *poolsv1.PoolSize]{
		Key: func(answer *poolsv1.PoolSize) pool.Key { return pool.FromProto(answer.GetPool()) },
	}}
}

// apply processes one event. whole: it ended a batch, and answers and lease are those of one period.
func (s *state) apply(event *poolsv1.WatchPoolSizesResponse) (whole bool, err error) {
	switch event.GetEvent().(type) {
	case *poolsv1.WatchPoolSizesResponse_PoolSize:
		s.Add(event.GetPoolSize())
		return false, nil
	case *poolsv1.WatchPoolSizesResponse_Snapshot:
		if err := s.Snapshot(event.GetSnapshot().GetAnswers(), event.GetResumeToken()); err != nil {
			return false, err
		}
		s.lease = nil
	case *poolsv1.WatchPoolSizesResponse_Heartbeat:
		s.Heartbeat(event.GetResumeToken())
		s.lease = leaseOf(event, time.Now())
	default:
		return false, nil // an event from a later version of the API
	}
	return true, nil
}

// sameRevisions ignores leases, which each heartbeat renews.
func sameRevisions(a, b map[pool.Key]*poolsv1.PoolSize) bool {
	return maps.EqualFunc(a, b, func(a, b *poolsv1.PoolSize) bool { return a.GetRevision() == b.GetRevision() })
}
