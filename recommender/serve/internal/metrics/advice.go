package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/serve/internal/advice"
	"sluice.dev/serve/internal/calls"

	poolsv1 "sluice.dev/api/pools/v1"
)

var (
	advisedReplicas = prometheus.NewDesc(advice.Replicas, advice.ReplicasHelp, []string{"service"}, nil)
	advisedCores    = prometheus.NewDesc(advice.Cores, advice.CoresHelp, []string{"service"}, nil)
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
	advice.Walk(a.service.Tables(), time.Now(), func(service string, advice *poolsv1.Advice) {
		if advice.AdvisedReplicas != nil {
			to <- prometheus.MustNewConstMetric(advisedReplicas, prometheus.GaugeValue, float64(advice.GetAdvisedReplicas()), service)
		}
		if advice.AdvisedCpuLimitCores != nil {
			to <- prometheus.MustNewConstMetric(advisedCores, prometheus.GaugeValue, advice.GetAdvisedCpuLimitCores(), service)
		}
	})
}
