package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/serve/internal/calls"
)

var leaseLeft = prometheus.NewDesc("sluice_server_lease_left_seconds",
	"Rest of each shard's lease; 0: its decisions are STALE.", []string{"shard"}, nil)

// leaseCollector is read at each scrape.
type leaseCollector struct{ service *calls.Service }

// Describe implements prometheus.Collector.
func (leaseCollector) Describe(to chan<- *prometheus.Desc) { to <- leaseLeft }

// Collect implements prometheus.Collector.
func (l leaseCollector) Collect(to chan<- prometheus.Metric) {
	t := l.service.Tables()
	if t == nil {
		return
	}
	now := time.Now()
	for _, shard := range t.Pools.View().Shards {
		left := 0.0
		if shard.Lease != nil {
			left = shard.Lease.Left(now).Seconds()
		}
		to <- prometheus.MustNewConstMetric(leaseLeft, prometheus.GaugeValue, left, strconv.Itoa(int(shard.Number)))
	}
}
