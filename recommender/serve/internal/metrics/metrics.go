// Package metrics has the metrics of the server.
package metrics

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/topics"
)

// Metrics are the metrics of the server itself.
type Metrics struct {
	*Exporter
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// New registers the metrics of service and reader, which are read at each scrape.
func New(service *calls.Service, reader *topics.Reader, more ...prometheus.Collector) *Metrics {
	m := &Metrics{
		Exporter: NewExporter(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "sluice", Subsystem: "server", Name: "calls_total", Help: "Ended calls, by method and code.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "sluice", Subsystem: "server", Name: "call_seconds", Help: "Duration of unary calls.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"method"}),
	}
	m.MustRegister(m.calls, m.seconds)
	m.gauge("watchers", "Open watches.", func() float64 { return float64(service.Watchers()) })
	m.gauge("log_lag_records", "Offsets between the last record read and the end of the journal.", func() float64 { return float64(reader.Lag()) })
	m.truth("ready", "1 after the server has read the journal to its end, else 0.", func() bool { return service.Tables() != nil })
	m.gauge("newest_decision_age_seconds", "Time since the start of the newest period; NaN before the first.", func() float64 {
		if t := service.Tables(); t != nil {
			if at := t.Pools.View().ComputedAt(); !at.IsZero() {
				return time.Since(at).Seconds()
			}
		}
		return math.NaN()
	})
	m.gauge("records_left_out", "Records of the journal that the server could not use, since it last read the journal from its start.", func() float64 {
		if t := service.Tables(); t != nil {
			return float64(t.LeftOut())
		}
		return 0
	})
	m.MustRegister(leaseCollector{service}, adviceCollector{service})
	m.MustRegister(more...)
	return m
}

// Checks adds what the process checks of its surroundings: ClickHouse's schema, and its own access.
func (m *Metrics) Checks(schemaCurrent, insecure func() bool) {
	m.truth("schema_current", "1 after ClickHouse had the schema that history needs, else 0.", schemaCurrent)
	m.truth("insecure", "1 while other machines reach the server without TLS or without authentication, else 0.", insecure)
}

// Connections adds those of the server's port.
func (m *Metrics) Connections(count func() (open, refused int64)) {
	m.gauge("connections", "Open connections to the port of calls.", func() float64 { open, _ := count(); return float64(open) })
	m.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "sluice", Subsystem: "server", Name: "connections_refused_total",
		Help: "Connections closed at once, since SLUICE_CONNECTIONS others were open.",
	}, func() float64 { _, refused := count(); return float64(refused) }))
}

// truth adds a gauge that is 1 while value is true, else 0.
func (m *Metrics) truth(name, help string, value func() bool) {
	m.gauge(name, help, func() float64 {
		if value() {
			return 1
		}
		return 0
	})
}

func (m *Metrics) gauge(name, help string, value func() float64) {
	m.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: "sluice", Subsystem: "server", Name: name, Help: help}, value))
}

// Unary counts a call.
func (m *Metrics) Unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	start := time.Now()
	response, err := handler(ctx, request)
	m.count(info.FullMethod, err)
	m.seconds.WithLabelValues(short(info.FullMethod)).Observe(time.Since(start).Seconds())
	return response, err
}

// Stream counts a stream when it ends.
func (m *Metrics) Stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	err := handler(service, stream)
	m.count(info.FullMethod, err)
	return err
}

// Refused counts a call that ended before it began. Anybody may name any method: those that do not exist count as one.
func (m *Metrics) Refused(method string, err error) {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", "."))
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if _, exists := found.(protoreflect.MethodDescriptor); !exists {
		method = "unknown"
	}
	m.count(method, err)
}

func (m *Metrics) count(method string, err error) {
	code := status.Code(err)
	if _, ok := status.FromError(err); !ok {
		code = status.FromContextError(err).Code()
	}
	m.calls.WithLabelValues(short(method), code.String()).Inc()
}

func short(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }
