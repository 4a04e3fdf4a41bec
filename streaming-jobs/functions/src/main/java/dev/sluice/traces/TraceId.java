package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A trace id as two numbers, in the byte order of {@link Span#traceIdHigh}. Its hash is the same in
 * every process: maps of ids have an order, by which traces of one message are closed, and reading
 * the topic again has to close them in the same one.
 */
public record TraceId(long high, long low) implements Comparable<TraceId> {
  public static final int LENGTH = 16;

  /** From {@link #LENGTH} bytes, as {@link #toBytes} gives them. */
  public static TraceId of(byte[] id) {
    ByteBuffer bytes = ByteBuffer.wrap(id).order(ByteOrder.LITTLE_ENDIAN);
    return new TraceId(bytes.getLong(), bytes.getLong());
  }

  /** Ids are ordered, so that a map of ids that were chosen to collide stays fast. */
  @Override
  public int compareTo(TraceId other) {
    int byHigh = Long.compare(high, other.high);
    return byHigh != 0 ? byHigh : Long.compare(low, other.low);
  }

  /** A record's own would do, but Java leaves it free to change. */
  @Override
  public int hashCode() {
    return 31 * Long.hashCode(high) + Long.hashCode(low);
  }

  static TraceId of(Span span) {
    return new TraceId(span.traceIdHigh(), span.traceIdLow());
  }

  boolean is(Span span) {
    return high == span.traceIdHigh() && low == span.traceIdLow();
  }

  /** {@link #LENGTH} bytes, as the wire has them. */
  public byte[] toBytes() {
    return ByteBuffer.allocate(LENGTH)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(high)
        .putLong(low)
        .array();
  }
}
