package xds

import "time"

// mostLogged refusals are logged in each interval. Callers choose how many come and what is in them: with each in a line of its
// own, one caller could fill a disk.
const (
	mostLogged  = 10
	logInterval = time.Minute
)

// refusals counts the lines of refusals in the interval that began at since.
type refusals struct {
	since           time.Time
	logged, unnamed int
}

// take is true if a line may be logged at now. unnamed is the number of refusals without a line in the last interval; it is not
// zero at the start of an interval only.
func (r *refusals) take(now time.Time) (allowed bool, unnamed int) {
	if now.Sub(r.since) >= logInterval {
		unnamed = r.unnamed
		*r = refusals{since: now}
	}
	if r.logged >= mostLogged {
		r.unnamed++
		return false, unnamed
	}
	r.logged++
	return true, unnamed
}

// logRefusal logs a refusal, or counts it. The hub's lock is held.
func (h *Hub) logRefusal(now time.Time, attributes ...any) {
	allowed, unnamed := h.refusals.take(now)
	if unnamed > 0 {
		h.logger.Warn("clients refused further resources", "refusals", unnamed, "counted_in", "sluice_xds_answers_total")
	}
	if allowed {
		h.logger.Warn("a client refuses a resource", attributes...)
	}
}
