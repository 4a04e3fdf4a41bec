package dev.sluice.paths;

/**
 * Which overlap of two calls is none: up to 1 % of the shorter one, and up to 1 ms. The clocks that
 * time spans round to a microsecond or a millisecond, and a response is often taken before the span
 * of its call is ended.
 *
 * <p>Worked: of calls of 50 and 80 ms 0.5 ms, of 2 s and more 1 ms, of 99 ns none.
 */
public final class Serial {
  private static final long MOST_NS = 1_000_000;
  private static final long PARTS = 100;

  private Serial() {}

  /** Whether calls of these lengths that overlap by {@code overlapNs} follow one another. In ns. */
  public static boolean allows(long overlapNs, long oneNs, long otherNs) {
    return overlapNs <= MOST_NS && overlapNs * PARTS <= Math.min(oneNs, otherNs);
  }
}
