package dev.sluice.paths;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.latency.LatencyIndex;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Representative traces: the slowest, and one as slow as the median.
 *
 * <p>Neither depends on the order in which traces are added. The slowest is the largest of
 * (duration, trace id). For the median, each bucket of the latency histogram keeps the smallest
 * trace id in it, and the bucket that has the median (nearest rank) determines the trace: at most
 * 1.1 % off. State is bounded by the number of buckets.
 *
 * <p>Worked example: traces b 10 ms, a 10 ms, c 70 ms. The slowest is c. The median, the second of
 * three, is in the bucket of 10 ms, whose smallest id is a.
 */
final class Exemplars {
  static final int ID_BYTES = 16;
  private static final double MEDIAN = 0.5;

  private final TreeMap<Short, byte[]> smallest = new TreeMap<>();
  private long slowestNs;
  private byte[] slowest;

  void add(long ns, byte[] traceId) {
    keepSmallest((short) LatencyIndex.of(ns), traceId);
    keepSlowest(ns, traceId);
  }

  void add(Exemplars other) {
    other.smallest.forEach(this::keepSmallest);
    if (other.slowest != null) {
      keepSlowest(other.slowestNs, other.slowest);
    }
  }

  private void keepSmallest(short index, byte[] traceId) {
    smallest.merge(index, traceId, (a, b) -> Arrays.compareUnsigned(a, b) <= 0 ? a : b);
  }

  private void keepSlowest(long ns, byte[] traceId) {
    boolean slower =
        slowest == null
            || ns > slowestNs
            || (ns == slowestNs && Arrays.compareUnsigned(traceId, slowest) > 0);
    if (slower) {
      slowestNs = ns;
      slowest = traceId;
    }
  }

  /** Duration of the slowest trace, 0 without one. */
  long slowestNs() {
    return slowestNs;
  }

  /** Null without a trace. */
  byte[] slowest() {
    return slowest;
  }

  /**
   * A trace as slow as the median, or null without a trace.
   *
   * @param latency of the same traces
   */
  byte[] median(LatencyHistogram latency) {
    long rank = Math.max(1, (long) Math.ceil(MEDIAN * latency.total()));
    long rankSoFar = 0;
    for (Map.Entry<Short, Integer> bucket : latency.toMap().entrySet()) {
      rankSoFar += bucket.getValue();
      if (rankSoFar >= rank) {
        return smallest.get(bucket.getKey());
      }
    }
    return null;
  }

  void write(DataOutput out) throws IOException {
    out.writeShort(smallest.size());
    for (Map.Entry<Short, byte[]> bucket : smallest.entrySet()) {
      out.writeShort(bucket.getKey());
      out.write(bucket.getValue());
    }
    out.writeLong(slowestNs);
    out.writeBoolean(slowest != null);
    if (slowest != null) {
      out.write(slowest);
    }
  }

  void read(DataInput in) throws IOException {
    int size = in.readUnsignedShort();
    for (int i = 0; i < size; i++) {
      short index = in.readShort();
      smallest.put(index, id(in));
    }
    slowestNs = in.readLong();
    slowest = in.readBoolean() ? id(in) : null;
  }

  private static byte[] id(DataInput in) throws IOException {
    byte[] id = new byte[ID_BYTES];
    in.readFully(id);
    return id;
  }
}
