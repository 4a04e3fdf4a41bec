package spanlimitprocessor

import (
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	serviceName = "service.name"
	// DroppedBytes is the attribute of a tombstone with the size of the span that it replaces, in bytes.
	DroppedBytes = "sluice.dropped.bytes"
	// The jobs cut names to the same length.
	nameBytes = 256
)

// The identity of a span: the resource attributes of the jobs' attributes.csv.
var identity = []string{
	serviceName, "service.instance.id", "k8s.pod.name", "container.id", "host.name", "k8s.node.name", "host.id",
}

// keepIdentity copies the names that identify a resource. The resource itself may be what is too large.
func keepIdentity(from, to pcommon.Map) {
	to.EnsureCapacity(len(identity))
	for _, key := range identity {
		if text := name(from, key); text != "" {
			to.PutStr(key, text)
		}
	}
}

// name returns a text attribute, cut; "" where there is none, or where it is not a text.
func name(attributes pcommon.Map, key string) string {
	value, ok := attributes.Get(key)
	if !ok || value.Type() != pcommon.ValueTypeStr {
		return ""
	}
	return cut(value.Str())
}

// engrave writes the fields into the tombstone by which people find the span, and its size.
func engrave(span ptrace.Span, bytes int, stone ptrace.Span) {
	stone.SetTraceID(span.TraceID())
	stone.SetSpanID(span.SpanID())
	stone.SetParentSpanID(span.ParentSpanID())
	stone.SetName(cut(span.Name()))
	stone.SetKind(span.Kind())
	stone.SetStartTimestamp(span.StartTimestamp())
	stone.SetEndTimestamp(span.EndTimestamp())
	stone.Attributes().PutInt(DroppedBytes, int64(bytes))
}

// cut returns at most nameBytes bytes and splits no character.
func cut(text string) string {
	if len(text) <= nameBytes {
		return text
	}
	end := nameBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
