package loop

import (
	"sync"
	"time"

	"sluice.dev/actuators/internal/audit"
	"sluice.dev/actuators/internal/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// tellEvery is how often a size that stays is told. The recommender takes a target for gone of which it heard nothing for a
// minute (FRESH_MS of sluice.control.sizes): three of four may be late.
const tellEvery = 15 * time.Second

// heard is what the recommender has of a target: what it was told last, and when. The zero value is nothing. It is for
// several goroutines.
type heard struct {
	mu   sync.Mutex
	size pool.Size
	use  *poolsv1.Occupancy
	at   time.Time
}

// took is after a report that says the size, and the use where it is known: a reading of the same size in the same period of
// the recommender would stand for it there, and hide that this process wrote it.
func (h *heard) took(size pool.Size, use *poolsv1.Occupancy) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.size, h.use, h.at = size, use, time.Now()
}

// due tells whether a size that was read now, and the use since the last report, are to be told.
func (h *heard) due(size pool.Size, use *poolsv1.Occupancy) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at.IsZero() || size != h.size || time.Since(h.at) >= min(tellEvery, newsAfter(h.use, use))
}

// forget lets the next size that is read be told.
func (h *heard) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
}

// told reports what a pass without a write made of a target: an observation when it is due, a refusal at once.
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
