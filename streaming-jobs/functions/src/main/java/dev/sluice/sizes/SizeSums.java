package dev.sluice.sizes;

import dev.sluice.windows.ResourcePoint;
import java.util.HashMap;
import java.util.Map;

/** Sizes of several messages, summed by point and window. */
public final class SizeSums {
  private final Map<ResourcePoint, Map<Long, DataSize>> points = new HashMap<>();
  private int rows;

  /** Adds a size, which is not the caller's any more. */
  public void add(ResourcePoint point, DataSize size) {
    DataSize sum =
        points.computeIfAbsent(point, each -> new HashMap<>()).putIfAbsent(size.windowMs(), size);
    if (sum == null) {
      rows++;
    } else {
      sum.merge(size);
    }
  }

  /** How many rows there are. */
  public int rows() {
    return rows;
  }

  /** Gives the sizes, in no order, and forgets them. */
  public void drain(SizeAccumulator.Visitor visitor) {
    points.forEach(
        (point, windows) -> windows.values().forEach(size -> visitor.visit(point, size)));
    points.clear();
    rows = 0;
  }
}
