package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

var (
	adviceLabels    = []string{"service"}
	advisedReplicas = prometheus.NewDesc("sluice_pool_advised_replicas",
		"Replicas of a service that would do what is asked of its server pool; those that there are where nothing better is known.", adviceLabels, nil)
	advisedCores = prometheus.NewDesc("sluice_pool_advised_cpu_limit_cores",
		"CPU limit of one instance that would do what is asked of its server pool; the one that there is where nothing better is known.", adviceLabels, nil)
)

// advice is what hardware autoscalers read. A pool of which nothing is said, or whose lease is over, has none: who reads a
// value that is not there leaves what is there.
type advice struct{ service *calls.Service }

// Describe implements prometheus.Collector.
func (advice) Describe(to chan<- *prometheus.Desc) {
	to <- advisedReplicas
	to <- advisedCores
}

// Collect implements prometheus.Collector.
func (a advice) Collect(to chan<- prometheus.Metric) {
	t := a.service.Log()
	if t == nil {
		return
	}
	now := time.Now()
	for after, more := (keys.Pool{}), true; more; {
		page, others, view := t.Pools.Page(after, advicePage, func(keys.Pool) bool { return true })
		for _, e := range page {
			after = e.Key
			of := e.Answer.GetAdvice()
			if of == nil || e.Key.Side != poolsv1.Side_SIDE_SERVER {
				continue
			}
			lease := view.Shards[e.Shard].Lease
			if lease == nil {
				continue
			}
			if _, left := lease.Of(e.Key, now); left <= 0 {
				continue
			}
			if of.AdvisedReplicas != nil {
				to <- prometheus.MustNewConstMetric(advisedReplicas, prometheus.GaugeValue, float64(of.GetAdvisedReplicas()), e.Key.Service)
			}
			if of.AdvisedCpuLimitCores != nil {
				to <- prometheus.MustNewConstMetric(advisedCores, prometheus.GaugeValue, of.GetAdvisedCpuLimitCores(), e.Key.Service)
			}
		}
		more = others
	}
}

const advicePage = 1000
