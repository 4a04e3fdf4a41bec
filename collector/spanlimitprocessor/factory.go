// Package spanlimitprocessor replaces each span that no message can hold by a tombstone.
//
// The exporter's batcher splits a request that is larger than its max_size between spans. If a single span is larger, the
// batcher drops it and every span behind it, and counts none of them (exporterhelper v0.145.0, tracesRequest.split).
package spanlimitprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
)

// NewFactory returns the factory of the processor `span_limit`.
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
