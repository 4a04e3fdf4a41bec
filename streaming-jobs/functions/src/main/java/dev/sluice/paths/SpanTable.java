package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.Arrays;
import java.util.Collection;

/**
 * The spans of a trace under numbers 0 to {@link #size} - 1, and their ids in an open-addressed
 * hash table: no boxed number, one probe for nearly every look-up. Spans that cannot be placed
 * (second of an id, end before start) are left out and counted.
 *
 * <p>Filled again for each trace, in the same arrays.
 */
final class SpanTable {
  static final int NONE = -1;
  // 2^64 / golden ratio: spreads ids that differ in few bits (Knuth, TAOCP 3, 6.4).
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private TraceSpan[] spans = {};
  // The hash table: at most half of its slots are used; a free one has the id 0, which no span has.
  private long[] ids = {};
  private int[] numbers = {};
  private int mask;
  private int shift;
  private int size;

  /**
   * Replaces the spans by those of another trace.
   *
   * @param excluded counts by ordinal of {@link Exclusion}, added to
   */
  void fill(Collection<TraceSpan> all, int[] excluded) {
    clear(all.size());
    for (TraceSpan span : all) {
      if (span.durationNs() < 0) {
        excluded[Exclusion.ENDS_BEFORE_START.ordinal()]++;
      } else if (!add(span)) {
        excluded[Exclusion.DUPLICATE_SPAN.ordinal()]++;
      }
    }
  }

  private void clear(int count) {
    int bits = 33 - Integer.numberOfLeadingZeros(Math.max(1, count));
    if (ids.length < 1 << bits) {
      ids = new long[1 << bits];
      numbers = new int[1 << bits];
      spans = new TraceSpan[1 << bits - 1];
    } else {
      Arrays.fill(ids, 0, 1 << bits, 0);
      Arrays.fill(spans, 0, size, null);
    }
    mask = (1 << bits) - 1;
    shift = Long.SIZE - bits;
    size = 0;
  }

  private boolean add(TraceSpan span) {
    int slot = slot(span.spanId());
    if (ids[slot] == 0) {
      ids[slot] = span.spanId();
      numbers[slot] = size;
      spans[size++] = span;
      return true;
    }
    int known = numbers[slot];
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
    int slot = slot(spanId);
    return ids[slot] == 0 ? NONE : numbers[slot];
  }

  private int slot(long spanId) {
    int slot = (int) ((spanId * SPREAD) >>> shift);
    while (ids[slot] != 0 && ids[slot] != spanId) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
