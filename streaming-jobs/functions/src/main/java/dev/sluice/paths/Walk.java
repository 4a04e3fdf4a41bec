package dev.sluice.paths;

import dev.sluice.otlp.Span;
import java.util.Arrays;
import java.util.List;

/**
 * The walk back from the end of a span (rules 1 and 2). The time after the last child to finish is
 * the span's own. The walk then goes through that child in the same way, and goes on from the
 * child's start, with the children that had finished by then. A child that finishes exactly when
 * the next one starts has finished by then.
 *
 * <p>Worked example: root [0, 100) with children B1 [10, 30), B2 [20, 45), B3 [45, 65). From 100
 * back to 65 the root itself, B3 back to 45, where B2 touches it, back to 20. B1 ends after 20:
 * beside B2, nothing waited for it. Then the root again, back to 0.
 *
 * <p>Clocks round times, and a caller may start its next call just before the one before has ended.
 * A child that overlaps the one after it by no more than {@link Serial} allows has finished by
 * then, too. On the path it ends where the next one starts, and so do the spans below it. A [0,
 * 50.001) and B [50, 100): A is on the path for [0, 50).
 *
 * <p>Between a CLIENT span and the SERVER span that answers it are the way there, the wait for a
 * thread, and the way back. Both ways count as equally long, as in {@link ClockSkew}: the wait is
 * the gap before the SERVER span less the gap after it. CLIENT [0, 100), SERVER [70, 95): 70 - 5 =
 * 65. Of several SERVER spans below one CLIENT span the gaps are those between them.
 *
 * <p>It has a stack of its own instead of recursion: a trace may be as deep as it has spans. Each
 * span is entered once and each child visited once; with the sorting, O(n log n).
 *
 * <p>Used for one trace after the other, in the same arrays.
 */
final class Walk {
  private final SpanTable spans;
  private final SpanTree tree;
  private final Placement placed;
  private final Siblings siblings;

  // By span: its end on the path, the position of the walk, its next child to visit, and its time
  // on the path.
  private long[] end = {};
  private long[] cursor = {};
  private int[] next = {};
  private long[] self = {};
  private int[] depth = {};
  private int[] stack = {};

  // By span: the child that the walk met last, how long the span went on by itself after that
  // child, and how long its request waited for a thread.
  private int[] met = {};
  private long[] after = {};
  private long[] wait = {};

  // Filled from its end, as the walk leaves one span after the other: the last first.
  private int[] left = {};
  private int firstLeft;

  // The section that the next one may extend.
  private int openSpan;
  private long openStart;
  private long openEnd;

  // Filled from its end, as the walk goes back. An entered span makes at most one section for
  // itself, and one for its parent before it.
  private Section[] sections = {};
  private int firstSection;

  Walk(SpanTable spans, SpanTree tree, Placement placed) {
    this.spans = spans;
    this.tree = tree;
    this.placed = placed;
    siblings = new Siblings(spans, placed);
  }

  /** Begins with the present trace of table, tree and placement. */
  void begin() {
    int size = spans.size();
    if (cursor.length < size) {
      int capacity = 2 * size;
      end = new long[capacity];
      cursor = new long[capacity];
      next = new int[capacity];
      self = new long[capacity];
      depth = new int[capacity];
      stack = new int[capacity];
      met = new int[capacity];
      after = new long[capacity];
      wait = new long[capacity];
      left = new int[capacity];
      sections = new Section[2 * capacity];
    }
    Arrays.fill(self, 0, size, 0);
    Arrays.fill(wait, 0, size, 0);
  }

  /** The path of the tree below {@code root}. */
  CriticalPath from(int root, boolean incomplete) {
    firstSection = sections.length;
    firstLeft = left.length;
    openSpan = SpanTable.NONE;
    end[root] = placed.end(root);
    open(root);
    depth[root] = 0;
    stack[0] = root;
    int height = 1;
    while (height > 0) {
      int span = stack[height - 1];
      int child = lastFinished(span);
      if (child == SpanTable.NONE) {
        waited(span, placed.start(span));
        own(span, placed.start(span), cursor[span]);
        left[--firstLeft] = span;
        height--;
        continue;
      }
      end[child] = Math.min(placed.end(child), cursor[span]);
      waited(span, end[child]);
      own(span, end[child], cursor[span]);
      after[span] = cursor[span] - end[child];
      met[span] = child;
      cursor[span] = placed.start(child);
      depth[child] = height;
      if (tree.firstChild(child) == tree.endOfChildren(child)) {
        own(child, placed.start(child), end[child]);
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
    cursor[span] = end[span];
    next[span] = tree.firstChild(span);
    met[span] = SpanTable.NONE;
    siblings.sort(tree.children(), tree.firstChild(span), tree.endOfChildren(span));
  }

  /** The next child of the walk, or {@link SpanTable#NONE}. */
  private int lastFinished(int span) {
    int end = tree.endOfChildren(span);
    while (next[span] < end) {
      int child = tree.child(next[span]++);
      if (placed.isAccepted(child) && hasFinished(span, child)) {
        return child;
      }
    }
    return SpanTable.NONE;
  }

  private boolean hasFinished(int span, int child) {
    long overlap = placed.end(child) - cursor[span];
    if (overlap <= 0) {
      return true;
    }
    int later = met[span];
    if (later == SpanTable.NONE) {
      // This needs a span that itself ends earlier on the path.
      return placed.start(child) < cursor[span];
    }
    return Serial.allows(overlap, length(child), length(later));
  }

  private long length(int span) {
    return placed.end(span) - placed.start(span);
  }

  /** The walk reaches {@code from}, before the child that it met last. */
  private void waited(int span, long from) {
    int child = met[span];
    if (child != SpanTable.NONE
        && spans.get(span).kind() == Span.CLIENT
        && spans.get(child).kind() == Span.SERVER) {
      wait[child] = Math.max(0, cursor[span] - from - after[span]);
    }
  }

  private void own(int span, long from, long to) {
    if (from >= to) {
      return;
    }
    self[span] += to - from;
    // A child of zero length is between two sections of its parent that are one.
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
      long lengthNs = end[span] - placed.start(span);
      onPath[i] = new PathSpan(spans.get(span), self[span], depth[span], lengthNs, wait[span]);
    }
    return Arrays.asList(onPath);
  }
}
