package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A trace id as two numbers, in the byte order of {@link Span#traceIdHigh}. */
record TraceId(long high, long low) {
  static final int LENGTH = 16;

  static TraceId of(Span span) {
    return new TraceId(span.traceIdHigh(), span.traceIdLow());
  }

  boolean is(Span span) {
    return high == span.traceIdHigh() && low == span.traceIdLow();
  }

  byte[] toBytes() {
    return ByteBuffer.allocate(LENGTH)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(high)
        .putLong(low)
        .array();
  }
}
