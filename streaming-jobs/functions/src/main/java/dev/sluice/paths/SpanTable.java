package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.Collection;

/**
 * The spans of a trace under numbers 0 to {@link #size} - 1, and their ids in an open-addressed
 * hash table: no boxed number, one probe for nearly every look-up. Spans that cannot be placed by
 * themselves (second of an id, end before start) are left out and counted.
 */
final class SpanTable {
  static final int NONE = -1;
  // 2^64 / golden ratio: spreads ids that differ in few bits (Knuth, TAOCP 3, 6.4).
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final TraceSpan[] spans;
  private final int[] slots;
  private final int shift;
  private int size;

  SpanTable(Collection<TraceSpan> all, int[] excluded) {
    spans = new TraceSpan[all.size()];
    int bits = 33 - Integer.numberOfLeadingZeros(Math.max(1, all.size()));
    slots = new int[1 << bits]; // a number + 1, or 0: at most half of them are taken
    shift = Long.SIZE - bits;
    for (TraceSpan span : all) {
      if (span.durationNs() < 0) {
        excluded[Exclusion.ENDS_BEFORE_START.ordinal()]++;
      } else if (!add(span)) {
        excluded[Exclusion.DUPLICATE_SPAN.ordinal()]++;
      }
    }
  }

  private boolean add(TraceSpan span) {
    int slot = slot(span.spanId());
    int known = slots[slot] - 1;
    if (known == NONE) {
      spans[size] = span;
      slots[slot] = ++size;
      return true;
    }
    if (SpanOrder.SAME_ID.compare(span, spans[known]) < 0) {
      spans[known] = span;
    }
    return false;
  }

  int size() {
    return size;
  }

  TraceSpan get(int number) {
    return spans[number];
  }

  /** The number of the span with this id, or {@link #NONE}. */
  int find(long spanId) {
    return slots[slot(spanId)] - 1;
  }

  private int slot(long spanId) {
    int slot = (int) ((spanId * SPREAD) >>> shift);
    while (slots[slot] != 0 && spans[slots[slot] - 1].spanId() != spanId) {
      slot = (slot + 1) & (slots.length - 1);
    }
    return slot;
  }
}
