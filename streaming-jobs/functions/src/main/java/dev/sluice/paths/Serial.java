package dev.sluice.paths;

/**
 * The overlap of two calls that counts as none: up to 1 % of the shorter one, and up to 1 ms.
 * Clocks round the times of spans to a microsecond or a millisecond, and a caller often takes a
 * response before the span of its call ends.
 *
 * <p>Worked: 0.5 ms for calls of 50 and 80 ms, 1 ms for calls of 2 s and more, none for calls of 99
 * ns.
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
