package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Exporter has a process's metrics: the Go runtime's, and registered ones.
type Exporter struct{ *prometheus.Registry }

// NewExporter also has the metrics of more.
func NewExporter(more ...prometheus.Collector) *Exporter {
	p := &Exporter{prometheus.NewRegistry()}
	p.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p.MustRegister(more...)
	return p
}

// Handler serves the metrics in Prometheus' format.
func (p *Exporter) Handler() http.Handler {
	return promhttp.HandlerFor(p, promhttp.HandlerOpts{})
}
