package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** A trace id as two numbers, in the byte order of {@link Span#traceIdHigh}. */
public record TraceId(long high, long low) implements Comparable<TraceId> {
  public static final int LENGTH = 16;

  private static final SplittableRandom RANDOM = new SplittableRandom();
  private static final long HIGH_MULTIPLIER = RANDOM.nextLong() | 1;
  private static final long LOW_MULTIPLIER = RANDOM.nextLong() | 1;

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

  /**
   * The hash of {@link IdTable} over both halves: its upper bits are spread also where ids differ in
   * few places, as those that begin with the time do.
   */
  static long spread(long high, long low) {
    return high * HIGH_MULTIPLIER + low * LOW_MULTIPLIER;
  }

  @Override
  public int hashCode() {
    return (int) (spread(high, low) >>> Integer.SIZE);
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
