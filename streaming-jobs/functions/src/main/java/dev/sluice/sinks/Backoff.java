package dev.sluice.sinks;

import java.util.random.RandomGenerator;

/**
 * Delays between attempts: they double from {@code firstMs} to {@code maxMs}, each drawn uniformly
 * from the upper half of its range, so that writers that failed together do not return together.
 * Worked values for (100, 10,000): 50..100, 100..200, 200..400, ..., 5,000..10,000 ms.
 */
public final class Backoff {
  private final long firstMs;
  private final long maxMs;
  private final RandomGenerator random;
  private long ceilingMs;

  public Backoff(long firstMs, long maxMs, RandomGenerator random) {
    this.firstMs = firstMs;
    this.maxMs = maxMs;
    this.random = random;
    this.ceilingMs = firstMs;
  }

  /** The delay before the next attempt, in ms. */
  public long nextMs() {
    long delay = ceilingMs / 2 + random.nextLong(ceilingMs - ceilingMs / 2 + 1);
    ceilingMs = Math.min(maxMs, 2 * ceilingMs);
    return delay;
  }

  /** An attempt succeeded: starts over. */
  public void reset() {
    ceilingMs = firstMs;
  }
}
