package dev.sluice.paths;

import java.util.Arrays;

/**
 * The order in which the walk visits the children of a span (rules 1 and 3): the last to end comes
 * first. If several end together, the last to start comes first, then the one with the larger id.
 */
final class Siblings {
  // Below this, insertion sort is the fastest, and nearly every span has fewer children.
  private static final int FEW = 16;

  private final SpanTable spans;
  private final Placement placed;

  Siblings(SpanTable spans, Placement placed) {
    this.spans = spans;
    this.placed = placed;
  }

  /** Sorts {@code children[from]} to {@code children[to - 1]}, which are numbers of spans. */
  void sort(int[] children, int from, int to) {
    if (to - from > FEW) {
      Integer[] boxed = new Integer[to - from];
      Arrays.setAll(boxed, i -> children[from + i]);
      Arrays.sort(boxed, this::compare);
      for (int i = from; i < to; i++) {
        children[i] = boxed[i - from];
      }
      return;
    }
    for (int i = from + 1; i < to; i++) {
      int child = children[i];
      int gap = i;
      for (; gap > from && compare(child, children[gap - 1]) < 0; gap--) {
        children[gap] = children[gap - 1];
      }
      children[gap] = child;
    }
  }

  private int compare(int a, int b) {
    int byEnd = Long.compare(placed.end(b), placed.end(a));
    if (byEnd != 0) {
      return byEnd;
    }
    int byStart = Long.compare(placed.start(b), placed.start(a));
    return byStart != 0
        ? byStart
        : Long.compareUnsigned(
            SpanOrder.id(spans.get(b).spanId()), SpanOrder.id(spans.get(a).spanId()));
  }
}
