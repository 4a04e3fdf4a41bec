package dev.sluice.delays;

import dev.sluice.windows.Windowed;

/**
 * The delays of one instance's spans that came in one window: from their ends until they came into
 * the log, by the broker's clock. The least one is the shortest transport time less the clock
 * offset of the instance. Below 0 the span ended after it came: the instance's clock is certainly
 * ahead.
 *
 * <p>Worked: a span that ends at 10.900 s by a clock that is 1 s ahead comes at 10.100 s: -800 ms,
 * with a transport time of 200 ms.
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
