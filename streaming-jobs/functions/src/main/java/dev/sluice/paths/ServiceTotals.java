package dev.sluice.paths;

import dev.sluice.latency.LatencyHistogram;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.math.BigDecimal;

/**
 * What a service's parts in critical paths sum to, over the paths that it is on.
 *
 * <p>Besides means these give Pearson's correlation of the service's processing time x with the end
 * to end time y (Sora, section 3.2), for any span of windows by summing first: {@code (n Sxy - Sx
 * Sy) / sqrt((n Sxx - Sx²)(n Syy - Sy²))}. Worked example: (x, y) = (1, 10), (2, 30), (3, 20): n =
 * 3, Sx = 6, Sy = 60, Sxx = 14, Syy = 1400, Sxy = 130, so (390 - 360) / sqrt(6 * 600) = 0.5.
 *
 * <p>Adding is exact: any order and any grouping of the same paths gives the same totals.
 */
public final class ServiceTotals {
  private long traces;
  private final Moments self = new Moments();
  private final Moments endToEnd = new Moments();
  private final Moments upstream = new Moments();
  private final Sum128 selfByEndToEnd = new Sum128();
  private final LatencyHistogram selfLatency = new LatencyHistogram();
  private final LatencyHistogram upstreamLatency = new LatencyHistogram();

  /**
   * Adds the service's part in one path.
   *
   * @param selfNs its processing time
   * @param upstreamNs the processing time of everything upstream of it
   * @param durationNs end to end
   */
  public void add(long selfNs, long upstreamNs, long durationNs) {
    traces++;
    self.add(selfNs);
    endToEnd.add(durationNs);
    upstream.add(upstreamNs);
    selfByEndToEnd.addProduct(selfNs, durationNs);
    selfLatency.record(selfNs);
    upstreamLatency.record(upstreamNs);
  }

  /** Adds all paths of another. */
  public void add(ServiceTotals other) {
    traces += other.traces;
    self.add(other.self);
    endToEnd.add(other.endToEnd);
    upstream.add(other.upstream);
    selfByEndToEnd.add(other.selfByEndToEnd);
    selfLatency.merge(other.selfLatency);
    upstreamLatency.merge(other.upstreamLatency);
  }

  public long traces() {
    return traces;
  }

  public Moments self() {
    return self;
  }

  public Moments endToEnd() {
    return endToEnd;
  }

  public Moments upstream() {
    return upstream;
  }

  /** Sum of processing time times end to end time, in ns², as DECIMAL(38, 0). */
  public BigDecimal selfByEndToEnd() {
    return selfByEndToEnd.toDecimal();
  }

  public LatencyHistogram selfLatency() {
    return selfLatency;
  }

  public LatencyHistogram upstreamLatency() {
    return upstreamLatency;
  }

  /** Writes everything, for {@link #read}. */
  public void write(DataOutput out) throws IOException {
    out.writeLong(traces);
    self.write(out);
    endToEnd.write(out);
    upstream.write(out);
    selfByEndToEnd.write(out);
    Histograms.write(selfLatency, out);
    Histograms.write(upstreamLatency, out);
  }

  public static ServiceTotals read(DataInput in) throws IOException {
    ServiceTotals totals = new ServiceTotals();
    totals.traces = in.readLong();
    totals.self.read(in);
    totals.endToEnd.read(in);
    totals.upstream.read(in);
    totals.selfByEndToEnd.read(in);
    Histograms.read(totals.selfLatency, in);
    Histograms.read(totals.upstreamLatency, in);
    return totals;
  }
}
