package dev.sluice.delays;

import dev.sluice.windows.Windowed;

/**
 * How long after their ends the spans of one instance came into the log, of those that came in one
 * window. The log's clock is the broker's: least is what the way takes at least, less what the
 * instance's clock is ahead. Below 0 the span ended after it came: the clock is ahead for sure.
 *
 * <p>Worked: a span that ends at 10.900 s by a clock that is 1 s ahead comes at 10.100 s: -800 ms,
 * of which the way took 200.
 */
public final class Delays implements Windowed<Delays> {
  private final long windowMs;
  private long spans;
  private long leastMs = Long.MAX_VALUE;
  private long sumMs;

  Delays(long windowMs) {
    this.windowMs = windowMs;
  }

  void add(long delayMs) {
    spans++;
    leastMs = Math.min(leastMs, delayMs);
    sumMs += delayMs;
  }

  @Override
  public void merge(Delays other) {
    spans += other.spans;
    leastMs = Math.min(leastMs, other.leastMs);
    sumMs += other.sumMs;
  }

  @Override
  public long windowMs() {
    return windowMs;
  }

  public long spans() {
    return spans;
  }

  public long leastMs() {
    return leastMs;
  }

  public long sumMs() {
    return sumMs;
  }
}
