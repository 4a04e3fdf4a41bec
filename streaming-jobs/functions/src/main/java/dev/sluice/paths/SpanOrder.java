package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.Comparator;

/** Orders that do not depend on how the spans of a trace arrived. */
final class SpanOrder {
  /**
   * Which of two spans with the same id is kept: the one that starts first, then the one that ends
   * last.
   */
  static final Comparator<TraceSpan> SAME_ID =
      Comparator.comparingLong(TraceSpan::startNs)
          .thenComparing(TraceSpan::endNs, Comparator.reverseOrder())
          .thenComparing(span -> id(span.parentId()), Long::compareUnsigned)
          .thenComparing(TraceSpan::kind)
          .thenComparing(TraceSpan::service)
          .thenComparing(TraceSpan::operation)
          .thenComparing(TraceSpan::host)
          .thenComparing(TraceSpan::linked)
          .thenComparing(TraceSpan::error)
          .thenComparing(TraceSpan::peer);

  private SpanOrder() {}

  /** A span id in the order of its bytes, which is that of its hexadecimal text; unsigned. */
  static long id(long spanId) {
    return Long.reverseBytes(spanId);
  }

  /** By start, then by id: the order of the roots of a trace. */
  static int byStart(TraceSpan a, TraceSpan b) {
    int byStart = Long.compare(a.startNs(), b.startNs());
    return byStart != 0 ? byStart : Long.compareUnsigned(id(a.spanId()), id(b.spanId()));
  }
}
