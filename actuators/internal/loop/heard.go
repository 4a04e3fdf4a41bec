package loop

import (
	"sync"
	"time"

	"sluice.dev/actuators/internal/audit"
	"sluice.dev/actuators/internal/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// tellEvery is how often an unchanged size is reported. The recommender regards a target as gone after a minute without a
// report (FRESH_MS of sluice.pools.inputs.sizes): three of four reports may be late.
const tellEvery = 15 * time.Second

// heard is the last report of a target that the recommender took, and its time. The zero value is none. It is safe for
// several goroutines.
type heard struct {
	mu   sync.Mutex
	size pool.Size
	use  *poolsv1.Occupancy
	at   time.Time
}

// took records a report with a size, and with the use where it is known. Within one period of the recommender, a reading of
// the same size would replace the report of the write, and hide that this process wrote the size.
func (h *heard) took(size pool.Size, use *poolsv1.Occupancy) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.size, h.use, h.at = size, use, time.Now()
}

// due is true when a size that was read now, and the use since the last report, have to be reported.
func (h *heard) due(size pool.Size, use *poolsv1.Occupancy) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at.IsZero() || size != h.size || time.Since(h.at) >= min(tellEvery, newsAfter(h.use, use))
}

// forget makes the next reading due.
func (h *heard) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
}

// told reports a pass without a write: an observation when it is due, a refusal at once.
func (w *worker) told(report *poolsv1.Actuation, current pool.Size) {
	use := w.used.wire()
	report.Occupancy = use
	if report.GetOutcome() != poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED {
		w.heard.forget()
		w.Reporter.Report(audit.Report{Actuation: report, Done: w.answered})
	} else if w.heard.due(current, use) {
		w.heard.took(current, use)
		w.used.told()
		w.Reporter.Report(audit.Report{Actuation: report, Done: w.answered})
	}
}
