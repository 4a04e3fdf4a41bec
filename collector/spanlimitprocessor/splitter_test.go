package spanlimitprocessor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
)

// split sends a request through the exporter's batcher, behind the processor or without it, and returns the parts.
func split(t *testing.T, traces ptrace.Traces, withProcessor bool) []ptrace.Traces {
	t.Helper()
	var lock sync.Mutex
	var parts []ptrace.Traces
	push := func(_ context.Context, part ptrace.Traces) error {
		lock.Lock()
		defer lock.Unlock()
		copied := ptrace.NewTraces()
		part.CopyTo(copied)
		parts = append(parts, copied)
		return nil
	}
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer, queue.QueueSize, queue.NumConsumers = exporterhelper.RequestSizerTypeBytes, 1<<30, 1
	queue.Batch = configoptional.Some(exporterhelper.BatchConfig{
		FlushTimeout: time.Second, Sizer: exporterhelper.RequestSizerTypeBytes, MaxSize: testLimit,
	})
	exporter, err := exporterhelper.NewTraces(t.Context(), exportertest.NewNopSettings(component.MustNewType("nop")), &Config{}, push,
		exporterhelper.WithQueue(configoptional.Some(queue)))
	if err != nil {
		t.Fatal(err)
	}
	var first consumer.Traces = exporter
	if withProcessor {
		factory := NewFactory()
		config := factory.CreateDefaultConfig().(*Config)
		config.MaxBytes = testLimit
		first, err = factory.CreateTraces(t.Context(), processortest.NewNopSettings(factory.Type()), config, exporter)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := exporter.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	if err := first.ConsumeTraces(t.Context(), traces); err != nil {
		t.Fatal(err)
	}
	if err := exporter.Shutdown(t.Context()); err != nil { // empties the queue
		t.Fatal(err)
	}
	return parts
}

// The reason for the processor. If this test fails, the splitter has learnt to leave out a single span.
func TestTheSplitterAloneLosesWhatStandsBehindALargeSpan(t *testing.T) {
	traces := ptrace.NewTraces()
	spans := scopeOf(traces, "cart").Spans()
	for number, size := range []int{10, 2 * testLimit, 10, 10} {
		add(spans, uint64(number), size)
	}
	total := 0
	for _, part := range split(t, traces, false) {
		total += part.SpanCount()
	}
	if total != 1 {
		t.Errorf("%d of 4 spans came through", total)
	}
}

// Each span arrives once: itself if it fits a part of its own, else a tombstone. No part is too large.
func TestEverySpanComesThroughTheSplitter(t *testing.T) {
	for seed := range uint64(400) {
		traces, count := randomTraces(rand.New(rand.NewPCG(seed, 0)))
		alone := fitsAlone(traces)
		again := ptrace.NewTraces()
		traces.CopyTo(again)
		parts := split(t, traces, true)
		found := map[uint64]int64{}
		for _, part := range parts {
			if size := marshaler.TracesSize(part); size > testLimit {
				t.Fatalf("seed %d: a part has %d bytes, more than %d", seed, size, testLimit)
			}
			for number, dropped := range numbers(part) {
				if _, twice := found[number]; twice {
					t.Fatalf("seed %d: span %d came twice", seed, number)
				}
				found[number] = dropped
			}
		}
		if uint64(len(found)) != count {
			t.Fatalf("seed %d: %d of %d spans came through", seed, len(found), count)
		}
		for number, dropped := range found {
			if alone[number] != (dropped == 0) {
				t.Fatalf("seed %d: span %d fits: %v, but its tombstone has %d bytes", seed, number, alone[number], dropped)
			}
		}
		if got, want := marshaled(split(t, again, true)), marshaled(parts); got != want {
			t.Fatalf("seed %d: sent again, the request is split into other bytes", seed)
		}
	}
}

// fitsAlone maps each span's number to whether a request of it, its resource and its scope has at most testLimit bytes.
func fitsAlone(traces ptrace.Traces) map[uint64]bool {
	fits := map[uint64]bool{}
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				alone := ptrace.NewTraces()
				r := alone.ResourceSpans().AppendEmpty()
				resource.Resource().CopyTo(r.Resource())
				s := r.ScopeSpans().AppendEmpty()
				scope.Scope().CopyTo(s.Scope())
				span.CopyTo(s.Spans().AppendEmpty())
				for number := range numbers(alone) {
					fits[number] = marshaler.TracesSize(alone) <= testLimit
				}
			}
		}
	}
	return fits
}

func marshaled(parts []ptrace.Traces) string {
	var text bytes.Buffer
	for _, part := range parts {
		body, _ := marshaler.MarshalTraces(part)
		fmt.Fprintf(&text, "%d ", len(body))
		text.Write(body)
	}
	return text.String()
}

// The last byte that fits, and the first that does not, beside a span that makes the request too large as a whole.
func TestTheLastByteThatFits(t *testing.T) {
	spare := testLimit - alone(t, testLimit-1000)
	for more, whole := range map[int]bool{-1: true, 0: true, 1: false, 2: false} {
		bytes := testLimit - 1000 + spare + more
		if size := alone(t, bytes); size != testLimit+more {
			t.Fatalf("the request has %d bytes, not %d", size, testLimit+more)
		}
		traces := ptrace.NewTraces()
		scope := scopeOf(traces, "cart")
		add(scope.Spans(), 1, bytes)
		add(scope.Spans(), 2, 100)
		dropped := map[uint64]int64{}
		for _, part := range split(t, traces, true) {
			maps.Copy(dropped, numbers(part))
		}
		if len(dropped) != 2 || dropped[2] != 0 || (dropped[1] == 0) != whole {
			t.Errorf("at %d bytes more than the limit: number to dropped bytes is %v", more, dropped)
		}
	}
}

// alone is the size of a request of one span whose attribute has so many bytes.
func alone(t *testing.T, bytes int) int {
	t.Helper()
	traces := ptrace.NewTraces()
	add(scopeOf(traces, "cart").Spans(), 1, bytes)
	return marshaler.TracesSize(traces)
}
