package audit

import (
	"slices"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Report is a message to the recommender. The Reporter sends it until the recommender takes it.
type Report struct {
	*poolsv1.Actuation
	// ID identifies a report that is sent again; where it is empty, the content does.
	ID string
	// Done is called once: with nil when the recommender took the report, else with the reason why it refused it for good. It
	// may be nil.
	Done func(error)
}

// maxSeen bounds the queued observations, since targets come and go while the recommender is away.
const maxSeen = 4096

// queue is first in, first out. Actions, which are all reports but OBSERVED, go first and drop their oldest beyond limit. The
// newest observation of each target waits beside them and drops no action.
type queue struct {
	limit   int
	actions []Report
	seen    []Report
}

func (q *queue) waiting() int { return len(q.actions) + len(q.seen) }

// push adds the newest report. dropped is true when the oldest was dropped for it.
func (q *queue) push(report Report) (dropped bool) {
	// An earlier observation is older than this report's reading.
	q.seen = slices.DeleteFunc(q.seen, func(older Report) bool { return older.GetTargetName() == report.GetTargetName() })
	if observed(report) {
		q.seen = append(q.seen, report)
		return shorten(&q.seen, maxSeen)
	}
	q.actions = append(q.actions, report)
	return shorten(&q.actions, q.limit)
}

func shorten(reports *[]Report, limit int) (dropped bool) {
	if len(*reports) <= limit {
		return false
	}
	*reports = slices.Delete(*reports, 0, 1)
	return true
}

// pop takes the oldest action, else the oldest observation; false when the queue is empty.
func (q *queue) pop() (Report, bool) {
	for _, reports := range []*[]Report{&q.actions, &q.seen} {
		if len(*reports) > 0 {
			oldest := (*reports)[0]
			*reports = slices.Delete(*reports, 0, 1)
			return oldest, true
		}
	}
	return Report{}, false
}

// unpop puts back the report that pop took. It is still the oldest: when the queue filled up meanwhile, it is dropped.
func (q *queue) unpop(report Report) (dropped bool) {
	if !observed(report) {
		if len(q.actions) >= q.limit {
			return true
		}
		q.actions = slices.Insert(q.actions, 0, report)
		return false
	}
	ofTarget := func(newer Report) bool { return newer.GetTargetName() == report.GetTargetName() }
	if !slices.ContainsFunc(q.seen, ofTarget) && !slices.ContainsFunc(q.actions, ofTarget) {
		q.seen = slices.Insert(q.seen, 0, report)
	}
	return false
}

func observed(report Report) bool {
	return report.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
}
