package dev.sluice.traces;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Things that are due at given times: a timer wheel of slots of {@value #SLOT_MS} ms. A thing is
 * due when its whole slot has passed, so up to that much later than its time. It may be entered
 * again for another time: the caller that takes it decides whether it is still due.
 */
final class Agenda<T> {
  private static final long SLOT_MS = 50;

  private final TreeMap<Long, List<T>> slots = new TreeMap<>();
  // Things that follow one another are mostly due together.
  private long lastSlot;
  private List<T> last;

  void enter(T thing, long atMs) {
    long slot = slot(atMs);
    if (last == null || slot != lastSlot) {
      last = slots.computeIfAbsent(slot, absent -> new ArrayList<>());
      lastSlot = slot;
    }
    last.add(thing);
  }

  /** The things of the first slot if it has passed; else null. */
  List<T> due(long nowMs) {
    return slots.isEmpty() || !hasPassed(slots.firstKey(), nowMs) ? null : first();
  }

  /** The things of the first slot, passed or not; null when there is nothing. */
  List<T> first() {
    Map.Entry<Long, List<T>> first = slots.pollFirstEntry();
    if (first == null) {
      return null;
    }
    if (first.getValue() == last) {
      last = null;
    }
    return first.getValue();
  }

  /** All things, in the order of their slots. */
  Stream<T> all() {
    return slots.values().stream().flatMap(List::stream);
  }

  /**
   * The end of the last slot that has passed: every agenda has given out all things up to there.
   * Comparing times with a later one would be ahead of things that still wait.
   *
   * @param nowMs ms of the Unix epoch; before it nothing passes
   */
  static long passed(long nowMs) {
    return nowMs < 0 ? Long.MIN_VALUE : nowMs - nowMs % SLOT_MS;
  }

  /** Whether a slot has passed. */
  static boolean hasPassed(long slot, long nowMs) {
    return slot <= Math.floorDiv(nowMs, SLOT_MS);
  }

  /** The slot after which a time has passed. */
  static long slot(long atMs) {
    return -Math.floorDiv(-atMs, SLOT_MS);
  }
}
