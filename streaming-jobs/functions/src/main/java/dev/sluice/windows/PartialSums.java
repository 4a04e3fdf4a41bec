package dev.sluice.windows;

import java.util.HashMap;
import java.util.Map;

/** Partial rows of several messages, summed by resource point and bucket. */
public final class PartialSums {
  private final Map<ResourcePoint, Map<Long, Partial>> points = new HashMap<>();
  private int rows;

  /** Adds a partial row, which is not the caller's any more. */
  public void add(ResourcePoint point, Partial partial) {
    Partial sum =
        points
            .computeIfAbsent(point, each -> new HashMap<>())
            .putIfAbsent(partial.bucketMs(), partial);
    if (sum == null) {
      rows++;
    } else {
      sum.merge(partial);
    }
  }

  /** How many rows there are. */
  public int rows() {
    return rows;
  }

  /** Gives the rows, in no order, and forgets them. */
  public void drain(Partials.Visitor visitor) {
    points.forEach(
        (point, buckets) -> buckets.values().forEach(partial -> visitor.visit(point, partial)));
    points.clear();
    rows = 0;
  }
}
