// Package spanlimitprocessor takes spans out that no message can hold, alone, and leaves a tombstone of each.
//
// The exporter's batcher splits a request that is larger than its max_size between spans. Where a span alone is larger
// it gives up that span and every span behind it (exporterhelper v0.145.0, tracesRequest.split), and counts neither.
package spanlimitprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
)

// NewFactory gives the processor `span_limit`.
func NewFactory() processor.Factory {
	return processor.NewFactory(
		component.MustNewType("span_limit"),
		func() component.Config { return &Config{} },
		processor.WithTraces(create, component.StabilityLevelStable),
	)
}

func create(
	ctx context.Context, set processor.Settings, config component.Config, next consumer.Traces,
) (processor.Traces, error) {
	limit := newLimit(config.(*Config).MaxBytes, set.Logger)
	return processorhelper.NewTraces(ctx, set, config, next, limit.process,
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
}
