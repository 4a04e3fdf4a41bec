package membership

import (
	"slices"
	"time"
)

// Stats is one service on the status page.
type Stats struct {
	Service string `json:"service"`
	// Live and Drained are the containers in the last list that the recommender took.
	Live    int `json:"live"`
	Drained int `json:"drained"`
	// TakenAt is the time when the recommender took a list last; absent before the first.
	TakenAt *time.Time `json:"taken_at,omitempty"`
	// Taken counts lists that the recommender took, renewals among them. Rejected counts those that it refused for good, Failed
	// calls that did not reach it.
	Taken    uint64 `json:"taken"`
	Rejected uint64 `json:"rejected"`
	Failed   uint64 `json:"failed"`
	// Error is why the newest reading or the newest call failed, or that the service has no container.
	Error string `json:"error,omitempty"`
	// Faults are those of the newest list.
	Faults []string `json:"faults,omitempty"`
}

// Stats returns the counts so far.
func (r *Reporter) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.stats
	stats.Faults = slices.Clone(stats.Faults)
	return stats
}

func (r *Reporter) count(change func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.stats)
}

// failed logs an error that differs from the last one.
func (r *Reporter) failed(what string, err error) {
	if r.Stats().Error != err.Error() {
		r.log.Warn(what, "error", err)
	}
	r.count(func(s *Stats) { s.Error = err.Error() })
}

// faulty logs the faults of a list that differ from the last ones.
func (r *Reporter) faulty(faults []string) {
	if slices.Equal(r.Stats().Faults, faults) {
		return
	}
	for _, fault := range faults {
		r.log.Warn("containers of a service", "fault", fault)
	}
	r.count(func(s *Stats) { s.Faults = faults })
}
