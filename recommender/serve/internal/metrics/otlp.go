package metrics

import (
	"context"
	"fmt"
	"log/slog"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/sdk/metric"
)

// Push sends the same metrics by OTLP every OTEL_METRIC_EXPORT_INTERVAL, as the OTEL_EXPORTER_OTLP_* variables set. stop
// sends the last values.
func (p *Exporter) Push(ctx context.Context, logger *slog.Logger) (stop func(context.Context) error, err error) {
	exporter, err := otlpmetricgrpc.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("send metrics by OTLP: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("cannot send metrics", "error", err) }))
	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(p))))
	return metric.NewMeterProvider(metric.WithReader(reader)).Shutdown, nil
}
