package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.Arrays;

/**
 * Parents and children of the spans of a {@link SpanTable}, by number. A parent that the trace does
 * not hold is none.
 */
final class SpanTree {
  private final int[] parent;
  // The children of span i are children[first[i]] to children[first[i + 1] - 1].
  private final int[] first;
  private final int[] children;

  SpanTree(SpanTable spans) {
    int size = spans.size();
    parent = new int[size];
    first = new int[size + 1];
    for (int i = 0; i < size; i++) {
      long id = spans.get(i).parentId();
      parent[i] = id == 0 ? SpanTable.NONE : spans.find(id);
      if (parent[i] >= 0) {
        first[parent[i] + 1]++;
      }
    }
    for (int i = 0; i < size; i++) {
      first[i + 1] += first[i];
    }
    children = new int[first[size]];
    int[] filled = Arrays.copyOf(first, size);
    for (int i = 0; i < size; i++) {
      if (parent[i] >= 0) {
        children[filled[parent[i]]++] = i;
      }
    }
  }

  /** The parent's number, or {@link SpanTable#NONE}. */
  int parent(int span) {
    return parent[span];
  }

  /** Where the children of a span begin in {@link #child}. */
  int firstChild(int span) {
    return first[span];
  }

  /** Where the children of a span end in {@link #child}, exclusive. */
  int endOfChildren(int span) {
    return first[span + 1];
  }

  int child(int position) {
    return children[position];
  }

  /** The array of children, of which each span may put its own range into another order. */
  int[] children() {
    return children;
  }

  /** Whether a span begins a tree: it has no parent, or one that the trace does not hold. */
  boolean isTop(int span) {
    return parent[span] == SpanTable.NONE;
  }

  /** Whether a span names a parent that the trace does not hold. */
  boolean isOrphan(TraceSpan span, int number) {
    return parent[number] == SpanTable.NONE && span.parentId() != 0;
  }
}
