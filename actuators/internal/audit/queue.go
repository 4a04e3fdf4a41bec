package audit

import (
	"slices"

	poolsv1 "sluice.dev/api/pools/v1"
)

// queue is first in, first out, and drops its oldest beyond limit. It holds at most one OBSERVED a target.
type queue struct {
	limit   int
	waiting []*poolsv1.Actuation
}

// push adds the newest report. dropped tells that the oldest had to go.
func (q *queue) push(report *poolsv1.Actuation) (dropped bool) {
	if observed(report) {
		q.waiting = slices.DeleteFunc(q.waiting, func(older *poolsv1.Actuation) bool { return supersedes(report, older) })
	}
	q.waiting = append(q.waiting, report)
	if len(q.waiting) <= q.limit {
		return false
	}
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return true
}

// pop takes the oldest; nil when there is none.
func (q *queue) pop() *poolsv1.Actuation {
	if len(q.waiting) == 0 {
		return nil
	}
	oldest := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return oldest
}

// unpop puts back what pop took. It is the oldest still: when the queue filled up meanwhile, it is the one to go.
func (q *queue) unpop(report *poolsv1.Actuation) (dropped bool) {
	if slices.ContainsFunc(q.waiting, func(newer *poolsv1.Actuation) bool { return supersedes(newer, report) }) {
		return false
	}
	if len(q.waiting) >= q.limit {
		return true
	}
	q.waiting = slices.Insert(q.waiting, 0, report)
	return false
}

func supersedes(newer, older *poolsv1.Actuation) bool {
	return observed(newer) && observed(older) && newer.GetTargetName() == older.GetTargetName()
}

func observed(report *poolsv1.Actuation) bool {
	return report.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
}
