package dev.sluice.traces;

/**
 * What {@link OpenTraces} keeps takes so many bytes of heap, at most: an estimate that is counted
 * instead of measured, so it costs an addition for each fragment.
 *
 * <p>Worked out for HotSpot with compressed references (heaps below 32 GB): 12 bytes of header for
 * an object and 16 for an array, 4 for a reference, whole multiples of 8. Lists grow by half, so a
 * place in one takes 6 bytes at most; tables of maps are 3/8 full at least, so one takes 11. {@code
 * HeapBytesTest} measures the same. Without compressed references it is some 1.4 times as much.
 */
final class HeapBytes {
  /**
   * A trace without its fragments: id 32, {@code Open} 32, {@link Session} 56, its list 24 + 32,
   * entry of the map 32 + 11, place on the agenda 6: 225.
   */
  static final int TRACE = 240;

  /** A fragment that is kept, but for its bytes: array 16, its padding 7, place in the list 6. */
  static final int FRAGMENT = 32;

  /** One that waits, but for its bytes: record 48, id 32, array 16 + 7, place on the agenda 6. */
  static final int WAITING = 112;

  /** A span's id in a session that is about to be full: number 24, entry of the set 32 + 11. */
  static final int SPAN_ID = 72;

  /** A closed id: id 32, time 24, entry of the map 32 + 11, place on the agenda 6. */
  static final int CLOSED_ID = 112;

  private HeapBytes() {}

  /** Of a fragment in a session. */
  static long of(byte[] fragment) {
    return FRAGMENT + (long) fragment.length;
  }

  /** Of a fragment that waits. */
  static long of(TraceFragment waiting) {
    return WAITING + (long) waiting.spans().length;
  }
}
