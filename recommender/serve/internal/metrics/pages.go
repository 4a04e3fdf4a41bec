package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Pages are a process's metrics: those of every Go program, and further registered ones.
type Pages struct{ registry *prometheus.Registry }

// NewPages also has the metrics of more.
func NewPages(more ...prometheus.Collector) *Pages {
	p := &Pages{prometheus.NewRegistry()}
	p.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p.registry.MustRegister(more...)
	return p
}

// Handler serves the metrics in Prometheus' format.
func (p *Pages) Handler() http.Handler {
	return promhttp.HandlerFor(p.registry, promhttp.HandlerOpts{})
}
