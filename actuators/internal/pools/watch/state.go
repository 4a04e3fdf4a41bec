package watch

import (
	"fmt"
	"maps"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// state is the sum of the events of WatchPoolSizes. Decisions count once their snapshot or heartbeat was received: so the
// decisions of one period count together, and a stream that breaks before that changes nothing.
type state struct {
	sizes map[pool.Key]*poolsv1.PoolSize
	lease *Lease
	// token resumes behind the last snapshot or heartbeat; empty before the first.
	token string
	batch []*poolsv1.PoolSize
}

// restart drops the incomplete batch of a broken stream.
func (s *state) restart() { s.batch = nil }

// apply processes one event. whole: it ended a batch, and sizes and lease are those of one period.
func (s *state) apply(event *poolsv1.WatchPoolSizesResponse) (whole bool, err error) {
	switch event.GetEvent().(type) {
	case *poolsv1.WatchPoolSizesResponse_PoolSize:
		s.batch = append(s.batch, event.GetPoolSize())
		return false, nil
	case *poolsv1.WatchPoolSizesResponse_Snapshot:
		if want := int(event.GetSnapshot().GetAnswers()); want != len(s.batch) {
			s.token = "" // request everything again
			return false, fmt.Errorf("a snapshot of %d decisions came with %d", want, len(s.batch))
		}
		s.sizes, s.lease = with(nil, s.batch), nil
	case *poolsv1.WatchPoolSizesResponse_Heartbeat:
		if len(s.batch) > 0 {
			s.sizes = with(s.sizes, s.batch)
		}
		s.lease = leaseOf(event, time.Now())
	default:
		return false, nil // an event from a later version of the API
	}
	s.token, s.batch = event.GetResumeToken(), nil
	return true, nil
}

// with returns a new map, because readers share the old one.
func with(sizes map[pool.Key]*poolsv1.PoolSize, batch []*poolsv1.PoolSize) map[pool.Key]*poolsv1.PoolSize {
	all := make(map[pool.Key]*poolsv1.PoolSize, len(sizes)+len(batch))
	maps.Copy(all, sizes)
	for _, answer := range batch {
		all[pool.FromProto(answer.GetPool())] = answer
	}
	return all
}

// sameRevisions ignores leases, which each heartbeat renews.
func sameRevisions(a, b map[pool.Key]*poolsv1.PoolSize) bool {
	if len(a) != len(b) {
		return false
	}
	for key, answer := range a {
		if other, ok := b[key]; !ok || other.GetRevision() != answer.GetRevision() {
			return false
		}
	}
	return true
}
