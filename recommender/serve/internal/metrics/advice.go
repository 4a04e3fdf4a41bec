package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/serve/internal/advised"
	"sluice.dev/serve/internal/calls"

	poolsv1 "sluice.dev/api/pools/v1"
)

var (
	advisedReplicas = prometheus.NewDesc(advised.Replicas, advised.ReplicasHelp, []string{"service"}, nil)
	advisedCores    = prometheus.NewDesc(advised.Cores, advised.CoresHelp, []string{"service"}, nil)
)

// adviceCollector has the metrics that hardware autoscalers read.
type adviceCollector struct{ service *calls.Service }

// Describe implements prometheus.Collector.
func (adviceCollector) Describe(to chan<- *prometheus.Desc) {
	to <- advisedReplicas
	to <- advisedCores
}

// Collect implements prometheus.Collector.
func (a adviceCollector) Collect(to chan<- prometheus.Metric) {
	advised.Walk(a.service.Log(), time.Now(), func(service string, of *poolsv1.Advice) {
		if of.AdvisedReplicas != nil {
			to <- prometheus.MustNewConstMetric(advisedReplicas, prometheus.GaugeValue, float64(of.GetAdvisedReplicas()), service)
		}
		if of.AdvisedCpuLimitCores != nil {
			to <- prometheus.MustNewConstMetric(advisedCores, prometheus.GaugeValue, of.GetAdvisedCpuLimitCores(), service)
		}
	})
}
