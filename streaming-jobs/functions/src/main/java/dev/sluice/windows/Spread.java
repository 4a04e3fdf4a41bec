package dev.sluice.windows;

/**
 * The overlap of a span with time buckets: a pure function of its times, so that one stage can take
 * back the additions of another.
 *
 * <p>Buckets are half-open, {@code [k * length, (k + 1) * length)}. A span overlaps each bucket
 * that it crosses and completes in the bucket that contains its end; one that ends exactly on a
 * border therefore completes in a bucket in which it was never busy. A span longer than the bound
 * is spread by its newest part only, because the job is likeliest to have forgotten the sums of its
 * oldest buckets.
 *
 * <p>Worked example, buckets of 100 ms: the span [80, 230) ms overlaps the buckets 0, 1, 2 by 20,
 * 100 and 30 ms and completes in 2; [50, 100) overlaps 0 by 50 ms and completes in 1.
 */
public final class Spread {
  /** A span that may not make more rows is spread over this many buckets, the newest. */
  public static final int SHORT = 100;

  private static final long NS_PER_MS = 1_000_000;

  private final long bucketNs;
  private final long maxNs;

  /**
   * @param bucketMs length of a bucket
   * @param maxMs the longest part of a span that is spread
   */
  public Spread(long bucketMs, long maxMs) {
    this.bucketNs = bucketMs * NS_PER_MS;
    this.maxNs = maxMs * NS_PER_MS;
  }

  /** Whether the span is longer than the part that is spread. */
  public boolean cuts(long startNs, long endNs) {
    return endNs - startNs > maxNs;
  }

  /** The beginning of the part of a span that may only touch its newest buckets. */
  public long shortFrom(long startNs, long endNs) {
    return Math.max(startNs, endNs - SHORT * bucketNs);
  }

  /** How many buckets the span overlaps or completes in: at least 1. */
  public long touched(long startNs, long endNs) {
    return completedIn(endNs) - oldest(startNs, endNs) + 1;
  }

  /** Number of the bucket that contains the end. */
  long completedIn(long endNs) {
    return endNs / bucketNs;
  }

  /** Number of the oldest bucket that the span overlaps; newer than {@link #newest} if none. */
  long oldest(long startNs, long endNs) {
    return from(startNs, endNs) / bucketNs;
  }

  /** Number of the newest bucket that the span overlaps. */
  long newest(long endNs) {
    return (endNs - 1) / bucketNs;
  }

  /** Overlap with one of the buckets from {@link #oldest} to {@link #newest}, in ns. */
  long overlapNs(long bucket, long startNs, long endNs) {
    long bucketStart = bucket * bucketNs;
    return Math.min(endNs, bucketStart + bucketNs) - Math.max(from(startNs, endNs), bucketStart);
  }

  /** Start of a bucket, ms of the Unix epoch. */
  long startMs(long bucket) {
    return bucket * bucketNs / NS_PER_MS;
  }

  private long from(long startNs, long endNs) {
    return Math.max(startNs, endNs - maxNs);
  }
}
