package status

import (
	"github.com/prometheus/client_golang/prometheus"
)

// containerMetrics reads the state of each service whose containers are reported, at each scrape.
type containerMetrics struct{ board *Board }

var (
	containersReported = prometheus.NewDesc("sluice_actuator_containers_reported",
		"Containers in the last list that the recommender took, by state: live, drained.", []string{"service", "state"}, nil)
	containerLists = prometheus.NewDesc("sluice_actuator_container_lists_total",
		"Lists of containers by outcome: taken, rejected for good, failed and tried again.", []string{"service", "outcome"}, nil)
	containersTaken = prometheus.NewDesc("sluice_actuator_containers_taken_timestamp_seconds",
		"Unix time when the recommender took a list of containers last; absent before the first.", []string{"service"}, nil)
	containersUnknown = prometheus.NewDesc("sluice_actuator_containers_unknown",
		"1 while the list of containers is unknown, empty, refused or waits for the recommender, else 0.", []string{"service"}, nil)
)

// Describe implements prometheus.Collector.
func (containerMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{containersReported, containerLists, containersTaken, containersUnknown} {
		to <- description
	}
}

// Collect implements prometheus.Collector.
func (m containerMetrics) Collect(to chan<- prometheus.Metric) {
	if m.board.Containers == nil {
		return
	}
	for _, s := range m.board.Containers() {
		gauge := func(description *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, append([]string{s.Service}, labels...)...)
		}
		for outcome, count := range map[string]uint64{"taken": s.Taken, "rejected": s.Rejected, "failed": s.Failed} {
			to <- prometheus.MustNewConstMetric(containerLists, prometheus.CounterValue, float64(count), s.Service, outcome)
		}
		unknown := 0.0
		if s.Error != "" {
			unknown = 1
		}
		gauge(containersUnknown, unknown)
		if s.TakenAt != nil {
			gauge(containersReported, float64(s.Live), "live")
			gauge(containersReported, float64(s.Drained), "drained")
			gauge(containersTaken, float64(s.TakenAt.UnixMilli())/1e3)
		}
	}
}
