package spanlimitprocessor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// testLimit has as many bytes in its length field as the sizes near it, so that fitsAlone is exact.
const testLimit = 20_000

var marshaler ptrace.ProtoMarshaler

// add appends a span with the number in its ids, and one attribute of `bytes` bytes.
func add(spans ptrace.SpanSlice, number uint64, bytes int) ptrace.Span {
	span := spans.AppendEmpty()
	var id pcommon.SpanID
	binary.BigEndian.PutUint64(id[:], number)
	var trace pcommon.TraceID
	binary.BigEndian.PutUint64(trace[8:], number)
	span.SetSpanID(id)
	span.SetTraceID(trace)
	span.Attributes().PutStr("db.statement", strings.Repeat("x", bytes))
	return span
}

func scopeOf(traces ptrace.Traces, service string) ptrace.ScopeSpans {
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	return resource.ScopeSpans().AppendEmpty()
}

func limited(t *testing.T, traces ptrace.Traces) ptrace.Traces {
	t.Helper()
	result, err := newLimit(testLimit, zap.NewNop()).process(t.Context(), traces)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// numbers maps each span's number to the size in its tombstone, 0 for a span itself.
func numbers(traces ptrace.Traces) map[uint64]int64 {
	found := map[uint64]int64{}
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				id := span.SpanID()
				dropped, _ := span.Attributes().Get(DroppedBytes)
				found[binary.BigEndian.Uint64(id[:])] = valueOf(dropped)
			}
		}
	}
	return found
}

func valueOf(value pcommon.Value) int64 {
	if value == (pcommon.Value{}) {
		return 0
	}
	return value.Int()
}

func TestARequestThatFitsStaysAsItIs(t *testing.T) {
	traces := ptrace.NewTraces()
	traces.ResourceSpans().AppendEmpty() // without spans: not touched either
	add(scopeOf(traces, "cart").Spans(), 1, 100)
	before, _ := marshaler.MarshalTraces(traces)
	after, _ := marshaler.MarshalTraces(limited(t, traces))
	if !bytes.Equal(before, after) {
		t.Fatal("a small request was changed")
	}
}

func TestALargeSpanLeavesATombstoneAndItsNeighboursStay(t *testing.T) {
	traces := ptrace.NewTraces()
	scope := scopeOf(traces, "cart")
	attributes := traces.ResourceSpans().At(0).Resource().Attributes()
	attributes.PutStr("k8s.pod.name", "cart-0")
	attributes.PutStr("process.command_line", "java -jar cart.jar")
	add(scope.Spans(), 1, 10)
	large := add(scope.Spans(), 2, testLimit)
	large.SetName(strings.Repeat("é", 200))
	large.SetKind(ptrace.SpanKindServer)
	large.SetParentSpanID(pcommon.SpanID{9})
	large.SetStartTimestamp(1000)
	large.SetEndTimestamp(3000)
	size := marshaler.SpanSize(large)
	add(scope.Spans(), 3, 10)
	add(scopeOf(traces, "shop").Spans(), 4, 10)

	result := limited(t, traces)
	if got, want := fmt.Sprint(numbers(result)), fmt.Sprint(map[uint64]int64{1: 0, 2: int64(size), 3: 0, 4: 0}); got != want {
		t.Fatalf("number: dropped bytes are %s, want %s", got, want)
	}
	grave := result.ResourceSpans().At(2)
	if got, want := grave.Resource().Attributes().AsRaw(), map[string]any{"service.name": "cart", "k8s.pod.name": "cart-0"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the tombstone's resource is %v, want %v", got, want)
	}
	stone := grave.ScopeSpans().At(0).Spans().At(0)
	if stone.Name() != strings.Repeat("é", 128) || stone.Kind() != ptrace.SpanKindServer || stone.Attributes().Len() != 1 ||
		stone.ParentSpanID() != (pcommon.SpanID{9}) || stone.TraceID() != (pcommon.TraceID{15: 2}) ||
		stone.StartTimestamp() != 1000 || stone.EndTimestamp() != 3000 {
		t.Errorf("the tombstone is %q %v %v %v, %v to %v, %d attributes", stone.Name(), stone.Kind(), stone.TraceID(),
			stone.ParentSpanID(), stone.StartTimestamp(), stone.EndTimestamp(), stone.Attributes().Len())
	}
}

// Each part repeats the resource and the scope: if they leave no room, no span of them fits.
func TestALargeResourceOrScopeTakesAllItsSpansAndNoOthers(t *testing.T) {
	for name, fill := range map[string]func(ptrace.ResourceSpans){
		"resource": func(r ptrace.ResourceSpans) { r.Resource().Attributes().PutStr("huge", strings.Repeat("x", testLimit)) },
		"service": func(r ptrace.ResourceSpans) {
			r.Resource().Attributes().PutStr("service.name", strings.Repeat("x", testLimit))
		},
		"scope": func(r ptrace.ResourceSpans) { r.ScopeSpans().At(0).Scope().SetName(strings.Repeat("x", testLimit)) },
	} {
		t.Run(name, func(t *testing.T) {
			traces := ptrace.NewTraces()
			spans := scopeOf(traces, "cart").Spans()
			first, second := int64(marshaler.SpanSize(add(spans, 1, 10))), int64(marshaler.SpanSize(add(spans, 2, 20)))
			fill(traces.ResourceSpans().At(0))
			add(scopeOf(traces, "shop").Spans(), 3, 10)
			result := limited(t, traces)
			if got, want := fmt.Sprint(numbers(result)), fmt.Sprint(map[uint64]int64{1: first, 2: second, 3: 0}); got != want {
				t.Errorf("number: dropped bytes are %s, want %s", got, want)
			}
			if size := marshaler.TracesSize(result); size > 2000 {
				t.Errorf("%d bytes are left", size)
			}
		})
	}
}

func TestTheLogNamesTheServiceOnceAResource(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	traces := ptrace.NewTraces()
	spans := scopeOf(traces, "cart").Spans()
	for number := range uint64(3) {
		add(spans, number+1, testLimit+int(number))
	}
	largest := marshaler.SpanSize(spans.At(2))
	if _, err := newLimit(testLimit, zap.New(core)).process(t.Context(), traces); err != nil {
		t.Fatal(err)
	}
	entries := logs.AllUntimed()
	if len(entries) != 1 {
		t.Fatalf("%d lines", len(entries))
	}
	want := map[string]any{"service": "cart", "spans": int64(3), "bytes_of_largest": int64(largest), "max_bytes": int64(testLimit)}
	if got := entries[0].ContextMap(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the log has %v, want %v", got, want)
	}
}

func TestAResourceWithoutANameOrWithANumberForIt(t *testing.T) {
	traces := ptrace.NewTraces()
	add(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), 1, testLimit)
	numbered := traces.ResourceSpans().AppendEmpty()
	numbered.Resource().Attributes().PutInt("service.name", 7)
	add(numbered.ScopeSpans().AppendEmpty().Spans(), 2, testLimit)
	result := limited(t, traces)
	if found := numbers(result); len(found) != 2 || found[1] == 0 || found[2] == 0 {
		t.Errorf("number to dropped bytes is %v", found)
	}
	for _, grave := range result.ResourceSpans().All() {
		if kept := grave.Resource().Attributes().AsRaw(); len(kept) != 0 {
			t.Errorf("a tombstone's resource is %v", kept)
		}
	}
}

// randomTraces has spans of all sizes up to twice the limit, many near it, and resources and scopes without spans.
func randomTraces(random *rand.Rand) (ptrace.Traces, uint64) {
	sizes := []int{0, 100, 3000, testLimit / 2, testLimit - 600, testLimit - 300, 2 * testLimit}
	traces := ptrace.NewTraces()
	number := uint64(0)
	for range random.IntN(4) {
		resource := traces.ResourceSpans().AppendEmpty()
		if random.IntN(4) > 0 {
			resource.Resource().Attributes().PutStr("service.name", strings.Repeat("s", random.IntN(300)))
		}
		for range random.IntN(4) {
			scope := resource.ScopeSpans().AppendEmpty()
			scope.Scope().SetName(strings.Repeat("n", random.IntN(200)))
			for range random.IntN(4) {
				number++
				add(scope.Spans(), number, sizes[random.IntN(len(sizes))]+random.IntN(300))
			}
		}
	}
	return traces, number
}

func BenchmarkProcess(b *testing.B) {
	traces := ptrace.NewTraces()
	spans := scopeOf(traces, "cart").Spans()
	for number := range uint64(512) {
		span := add(spans, number, 120)
		span.SetName("GET /cart/{id}")
		span.SetStartTimestamp(1)
		span.SetEndTimestamp(2)
		span.Attributes().PutStr("http.request.method", "GET")
		span.Attributes().PutStr("url.path", "/cart/1234")
		span.Attributes().PutInt("http.response.status_code", 200)
		span.Attributes().PutStr("server.address", "cart")
	}
	for name, maxBytes := range map[string]int{"fits": 4_000_000, "split": 100_000} {
		b.Run(name, func(b *testing.B) {
			limit := newLimit(maxBytes, zap.NewNop())
			for b.Loop() {
				if _, err := limit.process(b.Context(), traces); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*spans.Len()), "ns/span")
		})
	}
}
