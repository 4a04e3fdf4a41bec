package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Finds the critical paths of one trace after the other, in arrays that it keeps: allocating them
 * is otherwise most of the cost of a small trace. Not thread safe; keep one per task.
 */
public final class CriticalPathFinder {
  /** The arrays of a larger trace are freed after it. */
  private static final int KEPT_SPANS = 1 << 14;

  private static final int REASONS = Exclusion.values().length;

  /** The steps, each with its arrays. */
  private static final class Steps {
    private final SpanTable spans = new SpanTable();
    private final SpanTree tree = new SpanTree();
    private final Placement placed = new Placement(spans, tree);
    private final Walk walk = new Walk(spans, tree, placed);
  }

  private final Steps kept = new Steps();

  /**
   * Computes the paths of a trace.
   *
   * @param all spans of one trace, in any order; start times must not be negative
   */
  public CriticalPaths find(Collection<TraceSpan> all) {
    return find(all, all.size() <= KEPT_SPANS ? kept : new Steps());
  }

  private static CriticalPaths find(Collection<TraceSpan> all, Steps steps) {
    int[] excluded = new int[REASONS];
    SpanTable spans = steps.spans;
    SpanTree tree = steps.tree;
    spans.fill(all, excluded);
    tree.link(spans);
    steps.placed.place(excluded);
    steps.walk.begin();
    List<CriticalPath> paths = new ArrayList<>(1);
    for (int i = 0; i < spans.size(); i++) {
      if (tree.isTop(i) && steps.placed.isAccepted(i)) {
        paths.add(steps.walk.from(i, tree.isOrphan(spans.get(i), i)));
      }
    }
    if (paths.size() > 1) {
      paths.sort((a, b) -> SpanOrder.byStart(a.root(), b.root()));
    }
    return new CriticalPaths(paths, excluded);
  }
}
