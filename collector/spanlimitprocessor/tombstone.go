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
	// nameBytes is the length to which the jobs cut names, too.
	nameBytes = 256
)

// identity has the resource attributes that identify a span in the jobs' attributes.csv.
var identity = []string{
	serviceName, "service.instance.id", "k8s.pod.name", "container.id", "host.name", "k8s.node.name", "host.id",
}

// copyIdentity copies the attributes that identify a resource. The resource itself may be too large.
func copyIdentity(from, to pcommon.Map) {
	to.EnsureCapacity(len(identity))
	for _, key := range identity {
		if text := name(from, key); text != "" {
			to.PutStr(key, text)
		}
	}
}

// name returns a text attribute, cut to nameBytes; "" for an attribute that is missing or no text.
func name(attributes pcommon.Map, key string) string {
	value, ok := attributes.Get(key)
	if !ok || value.Type() != pcommon.ValueTypeStr {
		return ""
	}
	return cut(value.Str())
}

// fillTombstone copies the fields by which people find the span, and sets its size in bytes.
func fillTombstone(span ptrace.Span, bytes int, tombstone ptrace.Span) {
	tombstone.SetTraceID(span.TraceID())
	tombstone.SetSpanID(span.SpanID())
	tombstone.SetParentSpanID(span.ParentSpanID())
	tombstone.SetName(cut(span.Name()))
	tombstone.SetKind(span.Kind())
	tombstone.SetStartTimestamp(span.StartTimestamp())
	tombstone.SetEndTimestamp(span.EndTimestamp())
	tombstone.Attributes().PutInt(DroppedBytes, int64(bytes))
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
