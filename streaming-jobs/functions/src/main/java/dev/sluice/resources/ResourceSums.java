package dev.sluice.resources;

/**
 * The points of one series in one window, in the smallest unit of their role. Order does not
 * matter: a counter only grows from its start on, so its smallest value is the first and its
 * largest the last.
 */
public final class ResourceSums {
  private long points;
  private long sum;
  private long smallest = Long.MAX_VALUE;
  private long largest = Long.MIN_VALUE;
  private long firstNs = Long.MAX_VALUE;
  private long lastNs = Long.MIN_VALUE;

  /**
   * @param summed false for a counter, whose readings have no sum, and for a counter of the rest: a
   *     sum of either would overflow
   */
  void add(long value, boolean summed, long timeNs) {
    points++;
    sum += summed ? value : 0;
    smallest = Math.min(smallest, value);
    largest = Math.max(largest, value);
    firstNs = Math.min(firstNs, timeNs);
    lastNs = Math.max(lastNs, timeNs);
  }

  /** Number of points; the version grows by it, too. */
  public long points() {
    return points;
  }

  /** Their sum; 0 for a counter, and for the rest. */
  public long sum() {
    return sum;
  }

  public long smallest() {
    return smallest;
  }

  public long largest() {
    return largest;
  }

  /** Time of the earliest point, ns of the Unix epoch. */
  public long firstNs() {
    return firstNs;
  }

  /** Time of the latest point, ns of the Unix epoch. */
  public long lastNs() {
    return lastNs;
  }
}
