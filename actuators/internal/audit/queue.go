package audit

import (
	"slices"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Report is what the recommender is told, once, or again until it is taken.
type Report struct {
	*poolsv1.Actuation
	// ID makes a report that is told again the same; empty, its content does.
	ID string
	// Done is called once: with nil when the report was taken, else with why the recommender refused it for good. nil when nobody
	// needs to know.
	Done func(error)
}

// maxSeen bounds observations of targets that come and go while nobody takes them.
const maxSeen = 4096

// queue is first in, first out. Actions, which are all but OBSERVED, go first and drop their oldest beyond limit; of
// observations the newest of each target waits beside them, and pushes out no action.
type queue struct {
	limit   int
	actions []Report
	seen    []Report
}

func (q *queue) waiting() int { return len(q.actions) + len(q.seen) }

// push adds the newest report. dropped tells that the oldest had to go.
func (q *queue) push(report Report) (dropped bool) {
	// What was seen before is older than what this report has read.
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

// pop takes the oldest action, or observation; false when there is none.
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

// unpop puts back what pop took. It is the oldest still: when the queue filled up meanwhile, it is the one to go.
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
