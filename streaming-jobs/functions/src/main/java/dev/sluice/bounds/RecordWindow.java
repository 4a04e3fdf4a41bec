package dev.sluice.bounds;

/** The present window of record time of a partition. Times of a partition do not run backwards. */
final class RecordWindow {
  private static final long NEVER = Long.MIN_VALUE;

  private final long lengthMs;
  private long number = NEVER;

  RecordWindow(long lengthMs) {
    this.lengthMs = lengthMs;
  }

  /**
   * The next message was appended at this time.
   *
   * @return how many windows have ended since the last message; 2 for more
   */
  int ended(long recordMs) {
    long now = Math.floorDiv(recordMs, lengthMs);
    int ended = number == NEVER || now <= number ? 0 : now == number + 1 ? 1 : 2;
    number = Math.max(number, now);
    return ended;
  }

  /** The window's number, for a snapshot. */
  long number() {
    return number;
  }

  /** Restores a number from a snapshot: the later one counts. */
  void restore(long remembered) {
    number = Math.max(number, remembered);
  }
}
