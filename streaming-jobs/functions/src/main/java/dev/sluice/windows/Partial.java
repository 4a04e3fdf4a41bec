package dev.sluice.windows;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.latency.LatencyIndex;

/**
 * The contribution of one message, or of one move, to one bucket of one resource point. Sums are
 * negative where spans are taken back; the number of contributions grows either way.
 */
public final class Partial implements Windowed<Partial> {
  private final long bucketMs;
  private long busyNs;
  private long completions;
  private long errors;
  private long contributions;
  private final LatencyHistogram latency = new LatencyHistogram();

  Partial(long bucketMs) {
    this.bucketMs = bucketMs;
  }

  /**
   * A span's overlap with the bucket.
   *
   * @param sign 1 to add it, -1 to take it back; as below
   */
  void overlap(long ns, int sign) {
    busyNs += sign * ns;
    contributions++;
  }

  /** A span that ends in the bucket. */
  void complete(long durationNs, boolean error, int sign) {
    completions += sign;
    if (error) {
      errors += sign;
    }
    latency.add(LatencyIndex.of(durationNs), sign);
    contributions++;
  }

  /** Takes back an overlap that was added to this row, and its contribution. */
  void undoOverlap(long ns) {
    busyNs -= ns;
    contributions--;
  }

  /** The same for a span that ends in the bucket. */
  void undoCompletion(long durationNs, boolean error) {
    completions--;
    if (error) {
      errors--;
    }
    latency.add(LatencyIndex.of(durationNs), -1);
    contributions--;
  }

  @Override
  public void merge(Partial other) {
    busyNs += other.busyNs;
    completions += other.completions;
    errors += other.errors;
    contributions += other.contributions;
    latency.merge(other.latency);
  }

  /** Start of the bucket, ms of the Unix epoch. */
  public long bucketMs() {
    return bucketMs;
  }

  @Override
  public long windowMs() {
    return bucketMs;
  }

  /** Sum over spans of the overlap with the bucket. */
  public long busyNs() {
    return busyNs;
  }

  /** Spans that end in the bucket. */
  public long completions() {
    return completions;
  }

  /** Those of them that failed, not by their caller's fault. */
  public long errors() {
    return errors;
  }

  /** Overlaps and completions that were added or taken back: the bucket's version grows by it. */
  public long contributions() {
    return contributions;
  }

  /** Durations of the completions. */
  public LatencyHistogram latency() {
    return latency;
  }
}
