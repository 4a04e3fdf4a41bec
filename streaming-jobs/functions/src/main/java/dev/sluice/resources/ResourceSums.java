package dev.sluice.resources;

/**
 * The points of one series in one window, in the smallest unit of their role. Order does not
 * matter: of a counter, which only grows from its start on, the smallest value is the first and the
 * largest the last.
 */
public final class ResourceSums {
  private long points;
  private long sum;
  private long smallest = Long.MAX_VALUE;
  private long largest = Long.MIN_VALUE;
  private long firstNs = Long.MAX_VALUE;
  private long lastNs = Long.MIN_VALUE;

  void add(long value, boolean counter, long timeNs) {
    points++;
    sum += counter ? 0 : value; // nobody needs the sum of a counter's readings, and it overflows
    smallest = Math.min(smallest, value);
    largest = Math.max(largest, value);
    firstNs = Math.min(firstNs, timeNs);
    lastNs = Math.max(lastNs, timeNs);
  }

  /** How many; also what the version grows by. */
  public long points() {
    return points;
  }

  /** Their sum; 0 for a counter. */
  public long sum() {
    return sum;
  }

  public long smallest() {
    return smallest;
  }

  public long largest() {
    return largest;
  }

  /** Time of the earliest, ns of the Unix epoch. */
  public long firstNs() {
    return firstNs;
  }

  /** Time of the latest, ns of the Unix epoch. */
  public long lastNs() {
    return lastNs;
  }
}
