package pools

import (
	"sync"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// reportEvery is how often an unchanged size is reported. The recommender regards a target as gone after a minute without a
// report (FRESH_MS of sluice.pools.inputs.sizes): three of four reports may be late.
const reportEvery = 15 * time.Second

// lastReport is the last report of a target that the recommender took, and its time. The zero value is none. It is safe for
// several goroutines.
type lastReport struct {
	mu   sync.Mutex
	size pool.Size
	use  *poolsv1.Occupancy
	at   time.Time
}

// record keeps a report with a size, and with the use where it is known. Within one period of the recommender, a reading of
// the same size would replace the report of the write, and hide that this process wrote the size.
func (r *lastReport) record(size pool.Size, use *poolsv1.Occupancy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size, r.use, r.at = size, use, time.Now()
}

// due is true when a size that was read now, and the use since the last report, have to be reported.
func (r *lastReport) due(size pool.Size, use *poolsv1.Occupancy) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at.IsZero() || size != r.size || time.Since(r.at) >= min(reportEvery, dueAfter(r.use, use))
}

// forget makes the next reading due.
func (r *lastReport) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = time.Time{}
}

// reportReading reports a pass without a write: an observation when it is due, a refusal at once.
func (w *worker) reportReading(report *poolsv1.Actuation, current pool.Size) {
	use := w.occupancy.wire()
	report.Occupancy = use
	if pool.OutcomeOf(report.GetOutcome()) != reconcile.Observed {
		w.lastReport.forget()
		w.send(report, "", w.acknowledged)
	} else if w.lastReport.due(current, use) {
		w.lastReport.record(current, use)
		w.occupancy.reset()
		w.send(report, "", w.acknowledged)
	}
}

// reportWrite reports how a write ended, until the recommender takes the report.
func (w *worker) reportWrite(ended state.Ended) *poolsv1.Actuation {
	report := ended.Wire()
	w.complete(report, ended.Revision, ended.Done)
	w.lastReport.forget()
	w.send(report, ended.ID, func(err error) {
		w.acknowledged(err)
		w.store(func(r state.Record) state.Record { return r.Reported(ended.ID) }) // else it is sent again, under the same id
	})
	return report
}

// send queues a report. id identifies a report that is sent again; where it is empty, the content does.
func (w *worker) send(report *poolsv1.Actuation, id string, done func(error)) {
	w.Reporter.Report(Report{
		Target: w.Name, Outcome: pool.OutcomeOf(report.GetOutcome()), Done: done,
		Message: &poolsv1.ReportActuationRequest{Actuation: report, RequestId: id},
	})
}
