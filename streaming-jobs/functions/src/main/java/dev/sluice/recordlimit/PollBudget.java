package dev.sluice.recordlimit;

/**
 * Ends a poll of Kafka's consumer once its records are large together: they are all alive until the
 * job has taken them. Counts what was decompressed; what comes uncompressed, the consumer's fetch
 * sizes bound. A consumer polls in one thread.
 */
public final class PollBudget {
  // More than any max.poll.records, and far from wrapping when records are taken off.
  private static final int NO_MORE = 1 << 30;

  private static final ThreadLocal<long[]> BYTES = ThreadLocal.withInitial(() -> new long[1]);

  private PollBudget() {}

  /** A poll begins. */
  public static void begin() {
    BYTES.get()[0] = 0;
  }

  /** A record of so many bytes was read. */
  static void add(int bytes) {
    BYTES.get()[0] += bytes;
  }

  /** Whether no further record is to be read in this poll: never before the first. */
  public static boolean isSpent() {
    return BYTES.get()[0] >= Limits.current().pollBytes();
  }

  /** How many records a step of the poll takes off those that it may still return. */
  public static int taken(int records) {
    return isSpent() ? NO_MORE : records;
  }
}
