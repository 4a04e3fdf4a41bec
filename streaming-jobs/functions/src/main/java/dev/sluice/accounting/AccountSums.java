package dev.sluice.accounting;

import java.util.HashMap;
import java.util.Map;

/** Outcomes of several messages, summed by window of record time, outcome and service. */
public final class AccountSums {
  /** Receives the sums of one window and key. */
  @FunctionalInterface
  public interface Visitor {
    void visit(long windowMs, OutcomeCounts.Key key, OutcomeCounts.Sums sums);
  }

  private final long lengthMs;
  private final Map<Long, OutcomeCounts> windows = new HashMap<>();

  /**
   * @param lengthMs length of a window
   */
  public AccountSums(long lengthMs) {
    this.lengthMs = lengthMs;
  }

  /** The counts for a record time. */
  public OutcomeCounts at(long recordMs) {
    long windowMs = Math.floorDiv(recordMs, lengthMs) * lengthMs;
    return windows.computeIfAbsent(windowMs, absent -> new OutcomeCounts());
  }

  /** Number of rows. */
  public int rows() {
    int rows = 0;
    for (OutcomeCounts counts : windows.values()) {
      rows += counts.size();
    }
    return rows;
  }

  /** Visits the sums, in no order, and clears them. */
  public void drain(Visitor visitor) {
    windows.forEach(
        (windowMs, counts) -> counts.forEach((key, sums) -> visitor.visit(windowMs, key, sums)));
    windows.clear();
  }
}
