package watch

import (
	"fmt"
	"maps"
	"time"

	"sluice.dev/actuators/internal/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// state is what the events of WatchPoolSizes add up to. Answers count once their snapshot or heartbeat is there: what
// belongs to one control period is taken up whole, and a stream that breaks before it leaves no trace.
type state struct {
	sizes map[pool.Key]*poolsv1.PoolSize
	lease *Lease
	// token resumes behind the last snapshot or heartbeat; empty before the first.
	token string
	batch []*poolsv1.PoolSize
}

// restart forgets the part of a batch that a broken stream left.
func (s *state) restart() { s.batch = nil }

// apply takes up one event. whole: it ended a batch, and sizes and lease are those of one control period.
func (s *state) apply(event *poolsv1.WatchPoolSizesResponse) (whole bool, err error) {
	switch event.GetEvent().(type) {
	case *poolsv1.WatchPoolSizesResponse_PoolSize:
		s.batch = append(s.batch, event.GetPoolSize())
		return false, nil
	case *poolsv1.WatchPoolSizesResponse_Snapshot:
		if want := int(event.GetSnapshot().GetAnswers()); want != len(s.batch) {
			s.token = "" // everything, once more
			return false, fmt.Errorf("a snapshot of %d answers came with %d", want, len(s.batch))
		}
		s.sizes, s.lease = with(nil, s.batch), nil
	case *poolsv1.WatchPoolSizesResponse_Heartbeat:
		if len(s.batch) > 0 {
			s.sizes = with(s.sizes, s.batch)
		}
		s.lease = leaseOf(event, time.Now())
	default:
		return false, nil // an event of a later version of the API
	}
	s.token, s.batch = event.GetResumeToken(), nil
	return true, nil
}

// with returns a new map: the one before is shared with who reads it.
func with(sizes map[pool.Key]*poolsv1.PoolSize, batch []*poolsv1.PoolSize) map[pool.Key]*poolsv1.PoolSize {
	all := make(map[pool.Key]*poolsv1.PoolSize, len(sizes)+len(batch))
	maps.Copy(all, sizes)
	for _, answer := range batch {
		all[pool.FromProto(answer.GetPool())] = answer
	}
	return all
}

// sameRevisions ignores leases, which are renewed all the time.
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
