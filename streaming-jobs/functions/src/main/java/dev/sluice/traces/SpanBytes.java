package dev.sluice.traces;

import java.util.List;

/** Spans as bytes, for Flink's network. Operators of one task pass them on without encoding. */
public final class SpanBytes {
  private static final int SPAN_BYTES = 64;

  private SpanBytes() {}

  /** The inverse of {@link #decode}. */
  public static byte[] encode(List<TraceSpan> spans) {
    RecordWriter out = new RecordWriter(SPAN_BYTES * (1 + spans.size()));
    out.spans(spans);
    return out.toByteArray();
  }

  /** The spans, in their order. */
  public static List<TraceSpan> decode(byte[] encoded) {
    return new RecordReader(encoded).spans();
  }
}
