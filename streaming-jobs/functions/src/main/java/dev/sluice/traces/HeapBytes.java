package dev.sluice.traces;

import java.util.List;

/**
 * Estimates the heap of {@link OpenTraces}, as an upper bound in bytes. It counts instead of
 * measuring, so it costs an addition for each span.
 *
 * <p>Worked out for HotSpot with compressed references (heaps below 32 GB): 12 bytes of header for
 * an object and 16 for an array, 4 for a reference, whole multiples of 8. Lists grow by half, so a
 * place in one takes at most 6 bytes; tables of maps are at least 3/8 full, so one takes 11. {@code
 * HeapBytesTest} measures the same. Without compressed references it is about 1.4 times as much.
 */
final class HeapBytes {
  /**
   * A trace without its spans: id 32, {@code Open} 32, {@link Session} 56, its list 24 + 48, entry
   * of the map 32 + 11, places on two agendas 12: 247.
   */
  static final int TRACE = 248;

  /** A fragment that waits, but for its spans: record 40, id 32, list 24 + 23, place 6: 125. */
  static final int WAITING = 128;

  /**
   * A span, but for its names: record 88, place in the list 6. Names are one string for all spans
   * that have them, and bounded in number ({@link dev.sluice.bounds}); but operations need not be.
   */
  static final int SPAN = 96;

  /** An operation of no character: string 24, array 16, its padding 7. A character takes 2. */
  static final int OPERATION = 48;

  /** A span's id in a session that is about to be full: number 24, entry of the set 32 + 11. */
  static final int SPAN_ID = 72;

  /**
   * A closed id: place in the table 24, of which at least 3/8 are used: 64; among the ids that are
   * forgotten together 24: 88. The table is one array: G1 gives it whole regions, and while it
   * grows the former one stays.
   */
  static final int CLOSED_ID = 112;

  private HeapBytes() {}

  /** Bytes of a fragment's spans in a session. */
  static long of(List<TraceSpan> spans) {
    long bytes = 0;
    for (TraceSpan span : spans) {
      bytes += SPAN + OPERATION + 2L * span.operation().length();
    }
    return bytes;
  }

  /** Bytes of a waiting fragment. */
  static long of(TraceFragment waiting) {
    return WAITING + of(waiting.spans());
  }
}
