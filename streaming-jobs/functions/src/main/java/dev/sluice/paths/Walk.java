package dev.sluice.paths;

import java.util.Arrays;
import java.util.List;

/**
 * The walk back from the end of a span (rules 1 and 2): what comes after its last child to finish
 * is its own; then that child, walked in the same way; then on from the child's start, with the
 * children that had finished by then. A child that finishes exactly when the next one starts has
 * finished by then.
 *
 * <p>Worked example: root [0, 100) with children B1 [10, 30), B2 [20, 45), B3 [45, 65). From 100
 * back to 65 the root itself, B3 back to 45, where B2 touches it, back to 20. B1 ends after 20:
 * beside B2, nobody waited for it. So the root again, back to 0.
 *
 * <p>A stack of its own instead of recursion: a trace may be as deep as it has spans. Each span is
 * entered once and each child looked at once; with the sorting, O(n log n).
 *
 * <p>Used for one trace after the other, in the same arrays.
 */
final class Walk {
  private final SpanTable spans;
  private final SpanTree tree;
  private final Placement placed;
  private final Siblings siblings;

  // By span: how far back the walk is, its next child to look at, and its time on the path.
  private long[] cursor = {};
  private int[] next = {};
  private long[] self = {};
  private int[] depth = {};
  private int[] stack = {};

  // Filled from its end, as the walk leaves one span after the other: the last first.
  private int[] left = {};
  private int firstLeft;

  // The section that a further one may prolong.
  private int openSpan;
  private long openStart;
  private long openEnd;

  // Filled from its end, as the walk goes back. A span that is entered makes at most one section
  // for itself, and one for its parent before it.
  private Section[] sections = {};
  private int firstSection;

  Walk(SpanTable spans, SpanTree tree, Placement placed) {
    this.spans = spans;
    this.tree = tree;
    this.placed = placed;
    siblings = new Siblings(spans, placed);
  }

  /** Begins with the trace that table, tree and placement hold now. */
  void begin() {
    int size = spans.size();
    if (cursor.length < size) {
      int capacity = 2 * size;
      cursor = new long[capacity];
      next = new int[capacity];
      self = new long[capacity];
      depth = new int[capacity];
      stack = new int[capacity];
      left = new int[capacity];
      sections = new Section[2 * capacity];
    }
    Arrays.fill(self, 0, size, 0);
  }

  /** The path of the tree below {@code root}. */
  CriticalPath from(int root, boolean incomplete) {
    firstSection = sections.length;
    firstLeft = left.length;
    openSpan = SpanTable.NONE;
    open(root);
    depth[root] = 0;
    stack[0] = root;
    int height = 1;
    while (height > 0) {
      int span = stack[height - 1];
      int child = lastFinished(span);
      if (child == SpanTable.NONE) {
        own(span, placed.start(span), cursor[span]);
        left[--firstLeft] = span;
        height--;
        continue;
      }
      own(span, placed.end(child), cursor[span]);
      cursor[span] = placed.start(child);
      depth[child] = height;
      if (tree.firstChild(child) == tree.endOfChildren(child)) {
        own(child, placed.start(child), placed.end(child));
        left[--firstLeft] = child;
      } else {
        open(child);
        stack[height++] = child;
      }
    }
    close();
    List<Section> inOrder =
        Arrays.asList(Arrays.copyOfRange(sections, firstSection, sections.length));
    return new CriticalPath(spans.get(root), incomplete, inOrder, spansOn());
  }

  private void open(int span) {
    cursor[span] = placed.end(span);
    next[span] = tree.firstChild(span);
    siblings.sort(tree.children(), tree.firstChild(span), tree.endOfChildren(span));
  }

  /** The next child of the walk, or {@link SpanTable#NONE}. */
  private int lastFinished(int span) {
    int end = tree.endOfChildren(span);
    while (next[span] < end) {
      int child = tree.child(next[span]++);
      if (placed.isAccepted(child) && placed.end(child) <= cursor[span]) {
        return child;
      }
    }
    return SpanTable.NONE;
  }

  private void own(int span, long from, long to) {
    if (from >= to) {
      return;
    }
    self[span] += to - from;
    // A child of zero length stands between two sections of its parent that are one.
    if (span == openSpan && to == openStart) {
      openStart = from;
      return;
    }
    close();
    openSpan = span;
    openStart = from;
    openEnd = to;
  }

  private void close() {
    if (openSpan != SpanTable.NONE) {
      sections[--firstSection] = new Section(spans.get(openSpan), openStart, openEnd);
    }
  }

  private List<PathSpan> spansOn() {
    PathSpan[] onPath = new PathSpan[left.length - firstLeft];
    for (int i = 0; i < onPath.length; i++) {
      int span = left[firstLeft + i];
      onPath[i] = new PathSpan(spans.get(span), self[span], depth[span]);
    }
    return Arrays.asList(onPath);
  }
}
