package dev.sluice.paths;

import dev.sluice.latency.LatencyHistogram;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.math.BigDecimal;

/**
 * The sums of a service's parts in critical paths, over the paths that it is on.
 *
 * <p>Besides means, they give Pearson's correlation of the service's processing time x with the end
 * to end time y (Sora, section 3.2), for any span of windows by summing first: {@code (n Sxy - Sx
 * Sy) / sqrt((n Sxx - Sx²)(n Syy - Sy²))}. The same goes for x = blame ({@link Blame}). Worked
 * example: (x, y) = (1, 10), (2, 30), (3, 20): n = 3, Sx = 6, Sy = 60, Sxx = 14, Syy = 1400, Sxy =
 * 130, so (390 - 360) / sqrt(6 * 600) = 0.5.
 *
 * <p>Adding is exact: any order and any grouping of the same paths gives the same totals.
 */
public final class ServiceTotals {
  private long traces;
  private final Moments self = new Moments();
  private final Moments endToEnd = new Moments();
  private final Moments upstream = new Moments();
  private final Moments callUpstream = new Moments();
  private final Moments wait = new Moments();
  private final Moments blame = new Moments();
  private final Sum128 selfByEndToEnd = new Sum128();
  private final Sum128 blameByEndToEnd = new Sum128();
  private final LatencyHistogram selfLatency = new LatencyHistogram();
  private final LatencyHistogram upstreamLatency = new LatencyHistogram();
  private final LatencyHistogram callUpstreamLatency = new LatencyHistogram();
  private final LatencyHistogram blameLatency = new LatencyHistogram();

  /**
   * Adds the service's part in one path.
   *
   * @param durationNs end to end
   */
  public void add(ServiceTime part, long durationNs) {
    traces++;
    self.add(part.selfNs());
    endToEnd.add(durationNs);
    upstream.add(part.upstreamNs());
    callUpstream.add(part.callUpstreamNs());
    wait.add(part.waitNs());
    blame.add(part.blameNs());
    selfByEndToEnd.addProduct(part.selfNs(), durationNs);
    blameByEndToEnd.addProduct(part.blameNs(), durationNs);
    selfLatency.record(part.selfNs());
    upstreamLatency.record(part.upstreamNs());
    callUpstreamLatency.record(part.callUpstreamNs());
    blameLatency.record(part.blameNs());
  }

  /** Adds all paths of another. */
  public void add(ServiceTotals other) {
    traces += other.traces;
    self.add(other.self);
    endToEnd.add(other.endToEnd);
    upstream.add(other.upstream);
    callUpstream.add(other.callUpstream);
    wait.add(other.wait);
    blame.add(other.blame);
    selfByEndToEnd.add(other.selfByEndToEnd);
    blameByEndToEnd.add(other.blameByEndToEnd);
    selfLatency.merge(other.selfLatency);
    upstreamLatency.merge(other.upstreamLatency);
    callUpstreamLatency.merge(other.callUpstreamLatency);
    blameLatency.merge(other.blameLatency);
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

  public Moments callUpstream() {
    return callUpstream;
  }

  public Moments waited() {
    return wait;
  }

  public Moments blame() {
    return blame;
  }

  /** Sum of processing time times end to end time, in ns², as DECIMAL(38, 0). */
  public BigDecimal selfByEndToEnd() {
    return selfByEndToEnd.toDecimal();
  }

  /** Sum of blame times end to end time, likewise. */
  public BigDecimal blameByEndToEnd() {
    return blameByEndToEnd.toDecimal();
  }

  public LatencyHistogram selfLatency() {
    return selfLatency;
  }

  public LatencyHistogram upstreamLatency() {
    return upstreamLatency;
  }

  public LatencyHistogram callUpstreamLatency() {
    return callUpstreamLatency;
  }

  public LatencyHistogram blameLatency() {
    return blameLatency;
  }

  /** Writes everything, for {@link #read}. */
  public void write(DataOutput out) throws IOException {
    out.writeLong(traces);
    self.write(out);
    endToEnd.write(out);
    upstream.write(out);
    callUpstream.write(out);
    wait.write(out);
    blame.write(out);
    selfByEndToEnd.write(out);
    blameByEndToEnd.write(out);
    Histograms.write(selfLatency, out);
    Histograms.write(upstreamLatency, out);
    Histograms.write(callUpstreamLatency, out);
    Histograms.write(blameLatency, out);
  }

  public static ServiceTotals read(DataInput in) throws IOException {
    ServiceTotals totals = new ServiceTotals();
    totals.traces = in.readLong();
    totals.self.read(in);
    totals.endToEnd.read(in);
    totals.upstream.read(in);
    totals.callUpstream.read(in);
    totals.wait.read(in);
    totals.blame.read(in);
    totals.selfByEndToEnd.read(in);
    totals.blameByEndToEnd.read(in);
    Histograms.read(totals.selfLatency, in);
    Histograms.read(totals.upstreamLatency, in);
    Histograms.read(totals.callUpstreamLatency, in);
    Histograms.read(totals.blameLatency, in);
    return totals;
  }
}
