package main

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracers by the service that a span is of. A server without spans of its own has those of its client under its name, as
// Datadog's integrations name them: its time on critical paths can then be told from its caller's.
type tracers map[string]trace.Tracer

func traced(ctx context.Context, receiver string) (tracers, error) {
	found := tracers{}
	for _, service := range []string{"storefront", "redis", "memcached", "postgresql"} {
		exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(receiver), otlptracegrpc.WithInsecure())
		if err != nil {
			return nil, err
		}
		named := resource.NewSchemaless(attribute.String("service.name", service), attribute.String("service.instance.id", service+"-1"))
		found[service] = sdk.NewTracerProvider(
			sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(1<<16), sdk.WithBatchTimeout(batchTime)), sdk.WithResource(named),
		).Tracer("storefront")
	}
	return found, nil
}

// batchTime is how long a span may wait to be sent.
const batchTime = 500 * time.Millisecond

// call does what is asked of a service within a CLIENT span.
func (t tracers) call(ctx context.Context, service, name string, do func(context.Context) error) error {
	peer := service
	if service == "storefront" {
		peer = "orders"
	}
	ctx, span := t[service].Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("peer.service", peer)))
	defer span.End()
	err := do(ctx)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}
