package dev.sluice.paths;

import dev.sluice.otlp.Span;
import dev.sluice.traces.TraceSpan;
import java.util.Arrays;

/**
 * Places every span of a trace in its parent's time, from the roots downwards: moved for clock skew
 * (rule 5), clipped (rule 4), or excluded with all spans below it (rules 4 and 6).
 *
 * <p>Worked example for rule 4, the parent being [0, 100): a child [-10, 30) becomes [0, 30), [90,
 * 120) becomes [90, 100), [-5, 200) becomes [0, 100). [110, 160) is outside, and [100, 120) too:
 * they share no time. A child of zero length may be anywhere in [0, 100], the end included.
 *
 * <p>A correction for skew holds for a host: it carries over to descendants on the same host and
 * ends where another host begins. A span whose host is not known counts as one of its parent's
 * host.
 *
 * <p>Filled again for each trace, in the same arrays.
 */
final class Placement {
  private final SpanTable spans;
  private final SpanTree tree;
  private long[] start = {};
  private long[] end = {};
  private long[] shift = {};
  private String[] host = {};
  private Exclusion[] exclusion = {};
  private int[] queue = {};

  Placement(SpanTable spans, SpanTree tree) {
    this.spans = spans;
    this.tree = tree;
  }

  /**
   * Places all spans of the trace that table and tree hold now.
   *
   * @param excluded counts by ordinal of {@link Exclusion}, added to
   */
  void place(int[] excluded) {
    int size = spans.size();
    clear(size);
    int last = seed();
    for (int next = 0; next < last; next++) {
      int span = queue[next];
      for (int i = tree.firstChild(span); i < tree.endOfChildren(span); i++) {
        int child = tree.child(i);
        if (child != span) {
          below(span, child);
          queue[last++] = child;
        }
      }
    }
    for (int i = 0; i < size; i++) {
      if (exclusion[i] != null) {
        excluded[exclusion[i].ordinal()]++;
      }
    }
  }

  private void clear(int size) {
    if (start.length < size) {
      int capacity = 2 * size;
      start = new long[capacity];
      end = new long[capacity];
      shift = new long[capacity];
      host = new String[capacity];
      exclusion = new Exclusion[capacity];
      queue = new int[capacity];
    }
    Arrays.fill(shift, 0, size, 0);
    // Spans that no top leads to keep this value.
    Arrays.fill(exclusion, 0, size, Exclusion.CYCLE);
  }

  long start(int span) {
    return start[span];
  }

  long end(int span) {
    return end[span];
  }

  /** Whether the span may be on a path. */
  boolean isAccepted(int span) {
    return exclusion[span] == null;
  }

  private int seed() {
    int count = 0;
    for (int i = 0; i < spans.size(); i++) {
      if (tree.isTop(i) || tree.parent(i) == i) {
        TraceSpan span = spans.get(i);
        start[i] = span.startNs();
        end[i] = span.endNs();
        host[i] = span.host();
        exclusion[i] =
            !tree.isTop(i)
                ? Exclusion.SELF_PARENT
                : span.parentId() == 0 && span.linked() ? Exclusion.ASYNCHRONOUS : null;
        queue[count++] = i;
      }
    }
    return count;
  }

  private void below(int parent, int child) {
    if (exclusion[parent] != null) {
      exclusion[child] = exclusion[parent];
      return;
    }
    TraceSpan waiting = spans.get(parent);
    TraceSpan span = spans.get(child);
    if (span.kind() == Span.CONSUMER && waiting.kind() == Span.PRODUCER) {
      exclusion[child] = Exclusion.ASYNCHRONOUS;
      return;
    }
    correct(parent, waiting, child, span);
    clip(parent, child, span.startNs() + shift[child], span.endNs() + shift[child]);
  }

  private void correct(int parent, TraceSpan waiting, int child, TraceSpan span) {
    boolean hostKnown = !span.host().isEmpty();
    host[child] = hostKnown ? span.host() : host[parent];
    if (host[parent].isEmpty() || host[child].equals(host[parent])) {
      shift[child] = shift[parent];
    } else if (span.kind() == Span.SERVER && waiting.kind() == Span.CLIENT) {
      shift[child] =
          ClockSkew.shiftNs(
              waiting.startNs() + shift[parent],
              waiting.endNs() + shift[parent],
              span.startNs(),
              span.endNs());
    }
  }

  private void clip(int parent, int child, long from, long to) {
    start[child] = Math.max(from, start[parent]);
    end[child] = Math.min(to, end[parent]);
    boolean sharesTime = start[child] < end[child];
    boolean isPoint = start[child] == end[child] && (from == to || start[parent] == end[parent]);
    exclusion[child] = sharesTime || isPoint ? null : Exclusion.OUTSIDE_PARENT;
  }
}
