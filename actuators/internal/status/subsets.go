package status

import (
	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/actuators/internal/subsets"
)

// subsetMetrics reads the newest pass of each subset at each scrape.
type subsetMetrics struct{ board *Board }

var (
	subsetDiffers = prometheus.NewDesc("sluice_actuator_subset_differs",
		"1 while the recommended subset differs from the one in force, else 0; absent while it cannot be read.", []string{"subset"}, nil)
	subsetOutcomes = prometheus.NewDesc("sluice_actuator_subset_outcomes_total",
		"Writes of a subset that were APPLIED or FAILED, and recommended subsets that were REFUSED.", []string{"subset", "outcome"}, nil)
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
		for _, outcome := range subsets.Outcomes() {
			to <- prometheus.MustNewConstMetric(subsetOutcomes, prometheus.CounterValue, float64(s.Counts[outcome]), s.Name, string(outcome))
		}
	}
}
