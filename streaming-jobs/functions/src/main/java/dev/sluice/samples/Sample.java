package dev.sluice.samples;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.windows.Windowed;

/**
 * Moments of ln(latency) over the requests of one site that ended in one window, to which a
 * log-normal distribution is fitted (Microns, section 5.4: mean mu = lnSum / n, variance sigma^2 =
 * lnSum2 / n - mu^2).
 *
 * <p>Kept as whole numbers of 1e-9, rounded for each request: sums are then the same in any order
 * and grouping, which floating sums are not. StrictMath gives the same bits on every machine.
 *
 * <p>Example: 1 ms and 4 ms. ln(1e6) = 13.815510558, ln(4e6) = 15.201804919; lnSum = 29,017,315,477
 * and lnSum2 = 190,868,331,977 + 231,094,872,798 = 421,963,204,775 (units of 1e-9). mu =
 * 14.508657739, which is 2 ms, and sigma = 0.693147 = ln 2.
 *
 * <p>No overflow: ln(ns) of the longest span that a signed 64-bit time allows is 43.7, its square
 * 1,907, so a request adds at most 1.91e12, and 2^63 / 1.91e12 = 4.8 million requests of 292 years
 * fit; of requests up to 10 s (ln = 23.1) 17 million, 290,000 a second of one instance in a window
 * of 60 s, the longest that can be set.
 */
public final class Sample implements Windowed<Sample> {
  private static final double SCALE = 1e9;

  private final long windowMs;
  private long requests;
  private long errors;
  private long lnSum;
  private long lnSum2;
  private final LatencyHistogram latency = new LatencyHistogram();

  Sample(long windowMs) {
    this.windowMs = windowMs;
  }

  /** Counts one request; 0 ns counts as 1 ns. */
  void add(long ns, boolean error) {
    double ln = StrictMath.log(Math.max(1, ns));
    requests++;
    errors += error ? 1 : 0;
    lnSum += Math.round(ln * SCALE);
    lnSum2 += Math.round(ln * ln * SCALE);
    latency.record(ns);
  }

  @Override
  public void merge(Sample other) {
    requests += other.requests;
    errors += other.errors;
    lnSum += other.lnSum;
    lnSum2 += other.lnSum2;
    latency.merge(other.latency);
  }

  @Override
  public long windowMs() {
    return windowMs;
  }

  /** Requests that ended in the window; the version grows by it, too. */
  public long requests() {
    return requests;
  }

  /** Those of them with status ERROR. */
  public long errors() {
    return errors;
  }

  /** Sum of ln(latency in ns), in 1e-9. */
  public long lnSum() {
    return lnSum;
  }

  /** Sum of the squares of ln(latency in ns), in 1e-9. */
  public long lnSum2() {
    return lnSum2;
  }

  /** Their durations. */
  public LatencyHistogram latency() {
    return latency;
  }
}
