package status

import (
	"github.com/prometheus/client_golang/prometheus"
)

// subsetMetrics are asked of the newest pass of each subset.
type subsetMetrics struct{ board *Board }

var (
	subsetDiffers = prometheus.NewDesc("sluice_actuator_subset_differs",
		"1 while another subset is recommended than is in force, else 0; absent while it cannot be read.", []string{"subset"}, nil)
	subsetOutcomes = prometheus.NewDesc("sluice_actuator_subset_outcomes_total",
		"Writes of a subset that were APPLIED and that FAILED, and answers that were REFUSED.", []string{"subset", "outcome"}, nil)
)

// Describe implements prometheus.Collector.
func (subsetMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- subsetDiffers
	to <- subsetOutcomes
}

// Collect implements prometheus.Collector.
func (m subsetMetrics) Collect(to chan<- prometheus.Metric) {
	if m.board.Subsets == nil {
		return
	}
	for _, s := range m.board.Subsets() {
		if s.Error == "" {
			differs := 0.0
			if s.Wanted != "nothing" && s.Wanted != s.Members {
				differs = 1
			}
			to <- prometheus.MustNewConstMetric(subsetDiffers, prometheus.GaugeValue, differs, s.Name)
		}
		for _, outcome := range []string{"APPLIED", "FAILED", "REFUSED"} {
			to <- prometheus.MustNewConstMetric(subsetOutcomes, prometheus.CounterValue, float64(s.Counts[outcome]), s.Name, outcome)
		}
	}
}
