package spanlimitprocessor

import (
	"context"
	"math/bits"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
)

// limit replaces spans that do not fit maxBytes.
type limit struct {
	maxBytes int
	sizes    ptrace.ProtoMarshaler
	logger   *zap.Logger
}

func newLimit(maxBytes int, logger *zap.Logger) *limit {
	return &limit{maxBytes: maxBytes, logger: logger}
}

// process replaces each span that does not fit into a request of its own by a tombstone. The result depends on the request
// alone, so a repeated request has the same bytes. The number of spans stays.
func (l *limit) process(_ context.Context, traces ptrace.Traces) (ptrace.Traces, error) {
	if l.sizes.TracesSize(traces) <= l.maxBytes {
		return traces, nil
	}
	tombstones := ptrace.NewResourceSpansSlice()
	traces.ResourceSpans().RemoveIf(func(resource ptrace.ResourceSpans) bool {
		l.replaceLarge(resource, tombstones)
		// The splitter takes a first part without spans for a span that is too large.
		return resource.ScopeSpans().Len() == 0
	})
	tombstones.MoveAndAppendTo(traces.ResourceSpans())
	return traces, nil
}

// replaceLarge removes the spans that do not fit from the resource, and appends a resource with their tombstones.
func (l *limit) replaceLarge(resource ptrace.ResourceSpans, tombstones ptrace.ResourceSpansSlice) {
	room := inside(l.maxBytes) - l.withoutScopes(resource)
	var spans ptrace.SpanSlice
	dropped, largest := 0, 0
	resource.ScopeSpans().RemoveIf(func(scope ptrace.ScopeSpans) bool {
		room := inside(room) - l.withoutSpans(scope)
		scope.Spans().RemoveIf(func(span ptrace.Span) bool {
			bytes := l.sizes.SpanSize(span)
			if field(bytes) <= room {
				return false
			}
			if dropped == 0 {
				added := tombstones.AppendEmpty()
				copyIdentity(resource.Resource().Attributes(), added.Resource().Attributes())
				spans = added.ScopeSpans().AppendEmpty().Spans()
			}
			fillTombstone(span, bytes, spans.AppendEmpty())
			dropped, largest = dropped+1, max(largest, bytes)
			return true
		})
		return scope.Spans().Len() == 0
	})
	if dropped > 0 {
		l.logger.Warn("Spans do not fit into a message: a tombstone replaces each",
			zap.String("service", name(resource.Resource().Attributes(), serviceName)), zap.Int("spans", dropped),
			zap.Int("bytes_of_largest", largest), zap.Int("max_bytes", l.maxBytes))
	}
}

// withoutScopes is the size of a resource without its scopes. Each part of a split request repeats it.
func (l *limit) withoutScopes(resource ptrace.ResourceSpans) int {
	size := l.sizes.ResourceSpansSize(resource)
	for _, scope := range resource.ScopeSpans().All() {
		size -= field(l.sizes.ScopeSpansSize(scope))
	}
	return size
}

func (l *limit) withoutSpans(scope ptrace.ScopeSpans) int {
	size := l.sizes.ScopeSpansSize(scope)
	for _, span := range scope.Spans().All() {
		size -= field(l.sizes.SpanSize(span))
	}
	return size
}

// field is the size of a message of `size` bytes as a field of another: tag, length, content.
func field(size int) int {
	return 1 + (bits.Len64(uint64(size)|1)+6)/7 + size
}

// inside is the room that the splitter leaves for the content of a field of at most `size` bytes.
func inside(size int) int {
	return size - (field(size) - size)
}
