package reconcile

import "slices"

// Report is a message M to the recommender about one target. The Reporter sends it until the recommender takes it.
type Report[M any] struct {
	Target  string
	Outcome Outcome
	Message M
	// Done is called once: with nil when the recommender took the report, else with the reason why it refused it for good. It
	// may be nil.
	Done func(error)
}

// maxObservations bounds the queued observations, since targets come and go while the recommender is away.
const maxObservations = 4096

// queue is first in, first out. Actions, which are all reports but OBSERVED, go first and drop their oldest beyond limit. The
// newest observation of each target waits beside them and drops no action.
type queue[M any] struct {
	limit        int
	actions      []Report[M]
	observations []Report[M]
}

func (q *queue[M]) waiting() int { return len(q.actions) + len(q.observations) }

// push adds the newest report. dropped is true when the oldest was dropped for it.
func (q *queue[M]) push(report Report[M]) (dropped bool) {
	// An earlier observation is older than this report's reading.
	q.observations = slices.DeleteFunc(q.observations, func(older Report[M]) bool { return older.Target == report.Target })
	if report.Outcome == Observed {
		q.observations = append(q.observations, report)
		return shorten(&q.observations, maxObservations)
	}
	q.actions = append(q.actions, report)
	return shorten(&q.actions, q.limit)
}

func shorten[R any](reports *[]R, limit int) (dropped bool) {
	if len(*reports) <= limit {
		return false
	}
	*reports = slices.Delete(*reports, 0, 1)
	return true
}

// pop takes the oldest action, else the oldest observation; false when the queue is empty.
func (q *queue[M]) pop() (Report[M], bool) {
	for _, reports := range []*[]Report[M]{&q.actions, &q.observations} {
		if len(*reports) > 0 {
			oldest := (*reports)[0]
			*reports = slices.Delete(*reports, 0, 1)
			return oldest, true
		}
	}
	return Report[M]{}, false
}

// unpop puts back the report that pop took. It is still the oldest: when the queue filled up meanwhile, it is dropped.
func (q *queue[M]) unpop(report Report[M]) (dropped bool) {
	if report.Outcome != Observed {
		if len(q.actions) >= q.limit {
			return true
		}
		q.actions = slices.Insert(q.actions, 0, report)
		return false
	}
	ofTarget := func(newer Report[M]) bool { return newer.Target == report.Target }
	if !slices.ContainsFunc(q.observations, ofTarget) && !slices.ContainsFunc(q.actions, ofTarget) {
		q.observations = slices.Insert(q.observations, 0, report)
	}
	return false
}
