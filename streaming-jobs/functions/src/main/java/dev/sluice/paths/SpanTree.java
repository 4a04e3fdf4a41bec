package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.Arrays;

/**
 * Parents and children of the spans of a {@link SpanTable}, by number. A parent that is not in the
 * trace counts as none. Filled again for each trace, in the same arrays.
 */
final class SpanTree {
  private int[] parent = {};
  // The children of span i are children[first[i]] to children[first[i + 1] - 1].
  private int[] first = {};
  private int[] children = {};

  /** Links the spans of a trace, and replaces the links before. */
  void link(SpanTable spans) {
    int size = spans.size();
    clear(size);
    for (int i = 0; i < size; i++) {
      long id = spans.get(i).parentId();
      parent[i] = id == 0 ? SpanTable.NONE : spans.find(id);
      if (parent[i] >= 0) {
        first[parent[i]]++;
      }
    }
    // Numbers of children become ends of ranges, and each end then moves down to its beginning.
    for (int i = 1; i <= size; i++) {
      first[i] += first[i - 1];
    }
    for (int i = size - 1; i >= 0; i--) {
      if (parent[i] >= 0) {
        children[--first[parent[i]]] = i;
      }
    }
  }

  private void clear(int size) {
    if (first.length <= size) {
      int capacity = 2 * size;
      parent = new int[capacity];
      first = new int[capacity + 1];
      children = new int[capacity];
    } else {
      Arrays.fill(first, 0, size + 1, 0);
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

  /** The array of children; each span may reorder its own range. */
  int[] children() {
    return children;
  }

  /** Whether a span is the top of a tree: it has no parent, or one that is not in the trace. */
  boolean isTop(int span) {
    return parent[span] == SpanTable.NONE;
  }

  /** Whether a span's parent is not in the trace. */
  boolean isOrphan(TraceSpan span, int number) {
    return parent[number] == SpanTable.NONE && span.parentId() != 0;
  }
}
