package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sluice.dev/serve/internal/health"
	"sluice.dev/serve/internal/metrics"
)

// sendTime bounds the last sending of metrics by OTLP.
const sendTime = 2 * time.Second

// expose serves the pages with the metrics on SLUICE_HEALTH, and sends the metrics by OTLP, each if it is set. From the end of ctx
// on, the process is not ready.
func (s settings) expose(ctx context.Context, pages health.Pages, registry *metrics.Exporter, logger *slog.Logger) (stop func(), err error) {
	pages.Ready = health.All(func() []string {
		if ctx.Err() != nil {
			return []string{"draining: the process received a signal to end"}
		}
		return nil
	}, pages.Ready)
	pages.Metrics = registry.Handler()
	closePages, err := pages.Serve(s.health)
	if err != nil || !s.otlp {
		return closePages, err
	}
	shutdown, err := registry.Push(ctx, logger)
	if err != nil {
		closePages()
		return nil, err
	}
	return func() {
		within, cancel := context.WithTimeout(context.Background(), sendTime)
		defer cancel()
		_ = shutdown(within) // unsent metrics are lost
		closePages()
	}, nil
}

// drainOf reads SLUICE_DRAIN.
func drainOf(text string) (time.Duration, error) {
	if text == "" {
		return 5 * time.Second, nil
	}
	drain, err := time.ParseDuration(text)
	if err != nil || drain < 0 || drain > 300*time.Second {
		return 0, fmt.Errorf("SLUICE_DRAIN %q is not legal; legal: 0s to 300s", text)
	}
	return drain, nil
}
