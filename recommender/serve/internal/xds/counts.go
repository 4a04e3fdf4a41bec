package xds

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Counts are metrics of xDS.
type Counts struct {
	streams       prometheus.Gauge
	sent, answers *prometheus.CounterVec
	withheld      *prometheus.CounterVec
	undelivered   prometheus.Counter
	collectors    []prometheus.Collector
}

func newCounts() *Counts {
	name := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "sluice", Subsystem: "xds", Name: name, Help: help}
	}
	counter := func(suffix, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(name(suffix, help)), labels)
	}
	c := &Counts{
		streams:     prometheus.NewGauge(prometheus.GaugeOpts(name("streams", "Open streams of xDS."))),
		sent:        counter("responses_total", "Responses, by type of resource.", "type"),
		answers:     counter("answers_total", "ACKs (APPLIED) and NACKs (REFUSED) of clients, by type of resource.", "type", "outcome"),
		withheld:    counter("endpoints_left_out_total", "Endpoints and containers that the server left out, by reason.", "why"),
		undelivered: prometheus.NewCounter(prometheus.CounterOpts(name("deliveries_untold_total", "Reports of deliveries and sizes that the journal did not take."))),
	}
	c.collectors = []prometheus.Collector{c.streams, c.sent, c.answers, c.withheld, c.undelivered}
	return c
}

// Describe implements prometheus.Collector.
func (c *Counts) Describe(to chan<- *prometheus.Desc) {
	for _, collector := range c.collectors {
		collector.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (c *Counts) Collect(to chan<- prometheus.Metric) {
	for _, collector := range c.collectors {
		collector.Collect(to)
	}
}

// short is the last word of a type: "ClusterLoadAssignment"; "other" for a type that is not served.
func short(kind string) string {
	switch kind {
	case listenerType, routeType, clusterType, endpointType:
		return kind[strings.LastIndexByte(kind, '.')+1:]
	}
	return "other"
}
