package dev.sluice.windows;

import java.util.HashMap;
import java.util.Map;

/** Partial rows by resource point and bucket, which only have to be summed. */
public final class Partials {
  /** Receives one partial row. */
  @FunctionalInterface
  public interface Visitor {
    void visit(ResourcePoint point, Partial partial);
  }

  private final Spread spread;
  private final Map<ResourcePoint, Buckets> points = new HashMap<>();
  private int rows;

  public Partials(Spread spread) {
    this.spread = spread;
  }

  /**
   * Adds a span to a point.
   *
   * @param sign 1 to add it, -1 to take it back
   */
  public void add(ResourcePoint point, long startNs, long endNs, boolean error, int sign) {
    add(bucketsOf(point), startNs, startNs, endNs, error, sign, Integer.MAX_VALUE);
  }

  /**
   * Adds a span to a point's buckets, newest first, as long as there are fewer than {@code maxRows}
   * rows; its completion is always added.
   *
   * @param fromNs the beginning of the part that is spread: the span's start, or later
   * @return whether all of it was added
   */
  boolean add(
      Buckets buckets,
      long fromNs,
      long startNs,
      long endNs,
      boolean error,
      int sign,
      int maxRows) {
    at(buckets, spread.completedIn(endNs)).complete(endNs - startNs, error, sign);
    long oldest = spread.oldest(fromNs, endNs);
    for (long bucket = spread.newest(endNs); bucket >= oldest; bucket--) {
      if (rows >= maxRows && buckets.get(bucket) == null) {
        return false;
      }
      at(buckets, bucket).overlap(spread.overlapNs(bucket, fromNs, endNs), sign);
    }
    return true;
  }

  /** Takes back a span that was added whole to these rows, with its contributions. */
  void undo(ResourcePoint point, long startNs, long endNs, boolean error) {
    Buckets buckets = bucketsOf(point);
    buckets.get(spread.completedIn(endNs)).undoCompletion(endNs - startNs, error);
    long oldest = spread.oldest(startNs, endNs);
    for (long bucket = spread.newest(endNs); bucket >= oldest; bucket--) {
      buckets.get(bucket).undoOverlap(spread.overlapNs(bucket, startNs, endNs));
    }
  }

  /** The buckets of a point, to add several spans to. */
  Buckets bucketsOf(ResourcePoint point) {
    return points.computeIfAbsent(point, key -> new Buckets());
  }

  private Partial at(Buckets buckets, long bucket) {
    Partial partial = buckets.get(bucket);
    if (partial == null) {
      partial = new Partial(spread.startMs(bucket));
      buckets.put(bucket, partial);
      rows++;
    }
    return partial;
  }

  /** Number of rows. */
  public int rows() {
    return rows;
  }

  /** Visits the rows, in no order, except those that became empty. */
  public void forEach(Visitor visitor) {
    points.forEach(
        (point, buckets) -> {
          for (Partial partial : buckets.values()) {
            if (partial.contributions() > 0) {
              visitor.visit(point, partial);
            }
          }
        });
  }

  public void clear() {
    points.clear();
    rows = 0;
  }
}
