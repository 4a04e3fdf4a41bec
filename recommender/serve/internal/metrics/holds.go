package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/serve/internal/holds"
)

var (
	targetsHeld = prometheus.NewDesc("sluice_server_targets_held", "Targets that a process has, as of the newest record of holds.", nil, nil)
	holdAnswers = prometheus.NewDesc("sluice_server_hold_answers_total", "Targets that calls were answered for.", []string{"state"}, nil)
	holdsOut    = prometheus.NewDesc("sluice_server_hold_records_left_out_total", "Records of holds that could not be used.", nil, nil)
	holdsRead   = prometheus.NewDesc("sluice_server_holds_ready", "1 while it is known who has which target, else 0.", nil, nil)
)

// Holds is who has which target, as far as a server knows.
func Holds(of *holds.Holds) prometheus.Collector { return held{of} }

type held struct{ *holds.Holds }

// Describe implements prometheus.Collector.
func (held) Describe(to chan<- *prometheus.Desc) {
	to <- targetsHeld
	to <- holdAnswers
	to <- holdsOut
	to <- holdsRead
}

// Collect implements prometheus.Collector.
func (h held) Collect(to chan<- prometheus.Metric) {
	counts, ready := h.Counts(), 0.0
	if h.Problem() == "" {
		ready = 1
	}
	to <- prometheus.MustNewConstMetric(targetsHeld, prometheus.GaugeValue, float64(counts.Held))
	to <- prometheus.MustNewConstMetric(holdAnswers, prometheus.CounterValue, float64(counts.Granted), "GRANTED")
	to <- prometheus.MustNewConstMetric(holdAnswers, prometheus.CounterValue, float64(counts.Refused), "REFUSED")
	to <- prometheus.MustNewConstMetric(holdsOut, prometheus.CounterValue, float64(counts.LeftOut))
	to <- prometheus.MustNewConstMetric(holdsRead, prometheus.GaugeValue, ready)
}
