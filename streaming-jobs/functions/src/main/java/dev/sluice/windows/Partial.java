package dev.sluice.windows;

import dev.sluice.latency.LatencyHistogram;

/** What one message adds to one bucket of one resource point. */
public final class Partial {
  private final long bucketMs;
  private long busyNs;
  private long completions;
  private long errors;
  private long contributions;
  private final LatencyHistogram latency = new LatencyHistogram();

  Partial(long bucketMs) {
    this.bucketMs = bucketMs;
  }

  void overlap(long ns) {
    busyNs += ns;
    contributions++;
  }

  void complete(long durationNs, boolean error) {
    completions++;
    if (error) {
      errors++;
    }
    latency.record(durationNs);
    contributions++;
  }

  /** Start of the bucket, ms of the Unix epoch. */
  public long bucketMs() {
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

  /** Of those, with status ERROR. */
  public long errors() {
    return errors;
  }

  /** Overlaps and completions that were added: the bucket's version grows by it. */
  public long contributions() {
    return contributions;
  }

  /** Durations of the completions. */
  public LatencyHistogram latency() {
    return latency;
  }
}
