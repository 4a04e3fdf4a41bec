package dev.sluice.traces;

import java.util.SplittableRandom;

/**
 * Numbers by span id in an open-addressed hash table: no boxed number, one probe for nearly every
 * look-up. At most half of its slots are used.
 *
 * <p>The multiplier of the hash (Dietzfelbinger et al., "A reliable randomized algorithm for the
 * closest-pair problem", 1997: multiply-shift) is chosen at random once a process, so that a client
 * cannot choose ids that collide. No result depends on it, because the table has no order.
 */
final class IdTable {
  static final int NONE = -1;

  private static final long MULTIPLIER = new SplittableRandom().nextLong() | 1;

  // A free slot has the id 0, which no span has.
  private final long[] ids;
  private final int[] numbers;
  private final int shift;

  /**
   * @param most ids that are put at most
   */
  IdTable(int most) {
    int bits = 33 - Integer.numberOfLeadingZeros(Math.max(1, most));
    ids = new long[1 << bits];
    numbers = new int[1 << bits];
    shift = Long.SIZE - bits;
  }

  /**
   * Puts a number under an id that has none.
   *
   * @param id not 0
   * @return {@link #NONE}, or the number that the id has already
   */
  int putIfAbsent(long id, int number) {
    int slot = slot(id);
    if (ids[slot] != 0) {
      return numbers[slot];
    }
    ids[slot] = id;
    numbers[slot] = number;
    return NONE;
  }

  /** The number of an id, or {@link #NONE}. */
  int find(long id) {
    int slot = slot(id);
    return ids[slot] == 0 ? NONE : numbers[slot];
  }

  private int slot(long id) {
    int slot = (int) ((id * MULTIPLIER) >>> shift);
    while (ids[slot] != 0 && ids[slot] != id) {
      slot = (slot + 1) & (ids.length - 1);
    }
    return slot;
  }
}
