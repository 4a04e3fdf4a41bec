package dev.sluice.paths;

import dev.sluice.latency.LatencyHistogram;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.HexFormat;

/**
 * The sums of the critical paths of one signature. Adding is exact: any order and any grouping of
 * the same paths gives the same totals.
 */
public final class PathTotals {
  private long traces;
  private final Moments endToEnd = new Moments();
  private final LatencyHistogram latency = new LatencyHistogram();
  private final Exemplars exemplars = new Exemplars();

  /**
   * Adds one path.
   *
   * @param durationNs end to end, not negative
   * @param traceId its 16 bytes
   */
  public void add(long durationNs, byte[] traceId) {
    traces++;
    endToEnd.add(durationNs);
    latency.record(durationNs);
    exemplars.add(durationNs, traceId);
  }

  /** Adds all paths of another. */
  public void add(PathTotals other) {
    traces += other.traces;
    endToEnd.add(other.endToEnd);
    latency.merge(other.latency);
    exemplars.add(other.exemplars);
  }

  public long traces() {
    return traces;
  }

  public Moments endToEnd() {
    return endToEnd;
  }

  public LatencyHistogram latency() {
    return latency;
  }

  public long slowestNs() {
    return exemplars.slowestNs();
  }

  /** Hexadecimal; "" without a path. */
  public String slowestTraceId() {
    return hex(exemplars.slowest());
  }

  /** Hexadecimal; "" without a path. */
  public String medianTraceId() {
    return hex(exemplars.median(latency));
  }

  private static String hex(byte[] id) {
    return id == null ? "" : HexFormat.of().formatHex(id);
  }

  /** Writes everything, for {@link #read}. */
  public void write(DataOutput out) throws IOException {
    out.writeLong(traces);
    endToEnd.write(out);
    Histograms.write(latency, out);
    exemplars.write(out);
  }

  public static PathTotals read(DataInput in) throws IOException {
    PathTotals totals = new PathTotals();
    totals.traces = in.readLong();
    totals.endToEnd.read(in);
    Histograms.read(totals.latency, in);
    totals.exemplars.read(in);
    return totals;
  }
}
