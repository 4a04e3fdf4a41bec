package dev.sluice.traces;

import java.util.SplittableRandom;

/**
 * Times by trace id, in an open-addressed hash table of plain numbers. A map of objects takes three
 * times the heap, and a look-up of an id that is not there, which most are, reads three places of
 * memory instead of one.
 *
 * <p>The hash is that of {@link IdTable}, over both halves of an id.
 */
final class TraceTimes {
  /** Receives an id and its time. */
  @FunctionalInterface
  interface Visitor {
    void visit(TraceId id, long ms);
  }

  static final long NONE = Long.MIN_VALUE;

  // A slot is the two halves of an id, and its time. That of a free slot is the id 0, which no
  // trace has.
  private static final int WIDTH = 3;
  private static final int SMALLEST_BITS = 4;

  private static final SplittableRandom RANDOM = new SplittableRandom();
  private static final long HIGH_MULTIPLIER = RANDOM.nextLong() | 1;
  private static final long LOW_MULTIPLIER = RANDOM.nextLong() | 1;

  private int bits = SMALLEST_BITS;
  private long[] slots = new long[WIDTH << SMALLEST_BITS];
  private int size;

  /** The time of an id, or {@link #NONE}. */
  long get(long high, long low) {
    int at = WIDTH * slot(high, low);
    return isFree(at) ? NONE : slots[at + 2];
  }

  /** Sets the time of an id. */
  void put(long high, long low, long ms) {
    int at = WIDTH * slot(high, low);
    if (isFree(at)) {
      size++;
      if (size > 3 << bits - 2) { // of four slots three are used at most
        grow();
        at = WIDTH * slot(high, low);
      }
      slots[at] = high;
      slots[at + 1] = low;
    }
    slots[at + 2] = ms;
  }

  /** Forgets an id, if it is there. The ids behind it move up, so that no look-up ends before. */
  void remove(long high, long low) {
    int hole = slot(high, low);
    if (isFree(WIDTH * hole)) {
      return;
    }
    size--;
    int mask = (1 << bits) - 1;
    for (int next = hole + 1 & mask; !isFree(WIDTH * next); next = next + 1 & mask) {
      int home = home(slots[WIDTH * next], slots[WIDTH * next + 1]);
      if ((next - home & mask) >= (next - hole & mask)) {
        System.arraycopy(slots, WIDTH * next, slots, WIDTH * hole, WIDTH);
        hole = next;
      }
    }
    slots[WIDTH * hole] = 0;
    slots[WIDTH * hole + 1] = 0;
  }

  /** Visits all, in no order. */
  void forEach(Visitor visitor) {
    for (int at = 0; at < slots.length; at += WIDTH) {
      if (!isFree(at)) {
        visitor.visit(new TraceId(slots[at], slots[at + 1]), slots[at + 2]);
      }
    }
  }

  private void grow() {
    long[] before = slots;
    bits++;
    slots = new long[Math.multiplyExact(WIDTH, 1 << bits)];
    for (int at = 0; at < before.length; at += WIDTH) {
      if (before[at] != 0 || before[at + 1] != 0) {
        System.arraycopy(before, at, slots, WIDTH * slot(before[at], before[at + 1]), WIDTH);
      }
    }
  }

  private boolean isFree(int at) {
    return slots[at] == 0 && slots[at + 1] == 0;
  }

  private int home(long high, long low) {
    return (int) (high * HIGH_MULTIPLIER + low * LOW_MULTIPLIER >>> Long.SIZE - bits);
  }

  /** The slot of an id, or the free one that it would have. */
  private int slot(long high, long low) {
    int mask = (1 << bits) - 1;
    int slot = home(high, low);
    while (!isFree(WIDTH * slot)
        && (slots[WIDTH * slot] != high || slots[WIDTH * slot + 1] != low)) {
      slot = slot + 1 & mask;
    }
    return slot;
  }
}
