package metrics

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/topics"
)

// receiver is a collector: its channel has the metrics that it received.
type receiver struct {
	collector.UnimplementedMetricsServiceServer
	sent chan map[string]bool
}

func (r receiver) Export(_ context.Context, request *collector.ExportMetricsServiceRequest) (*collector.ExportMetricsServiceResponse, error) {
	names := map[string]bool{}
	for _, resource := range request.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				names[metric.GetName()] = true
			}
		}
	}
	r.sent <- names
	return &collector.ExportMetricsServiceResponse{}, nil
}

func TestTheSameMetricsGoByOTLP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := receiver{sent: make(chan map[string]bool, 10)}
	server := grpc.NewServer()
	collector.RegisterMetricsServiceServer(server, to)
	go server.Serve(listener) //nolint:errcheck // it ends with the test
	t.Cleanup(server.Stop)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())

	reader := topics.NewReader(topics.Journal{}, slog.New(slog.DiscardHandler), nil)
	m := New(calls.New(nil, nil, reader.Problem), reader)
	m.count("/sluice.pools.v1.PoolSizeService/GetPoolSize", status.Error(codes.NotFound, ""))
	stop, err := m.Push(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	within, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := stop(within); err != nil { // sends the last of them
		t.Fatal(err)
	}
	names := <-to.sent
	for _, name := range []string{
		"sluice_server_calls_total", "sluice_server_watchers", "sluice_server_ready", "sluice_server_log_lag_records",
		"sluice_server_newest_decision_age_seconds", "go_goroutines", "process_resident_memory_bytes",
	} {
		if !names[name] {
			t.Errorf("%s was not sent: %v", name, names)
		}
	}
}
