package dev.sluice.traces;

import dev.sluice.otlp.Span;
import dev.sluice.windows.Partials;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Spread;
import java.util.Comparator;
import java.util.List;

/**
 * Moves client spans in the fine windows to the service that they called, which only their trace
 * shows: what a span added under its address, or under "unknown", is taken back there and added
 * under the service of its SERVER child (design, section 2, "Identity"). Who works on a message is
 * no such child: its sender holds a connection to the broker, and waits for nobody's threads.
 *
 * <p>Of several children (a request that was retried) the one that starts first names the peer,
 * then the one with the smaller id. A span that came several times was counted as often, and is
 * moved as often. Spans that the trace had no room for stay.
 *
 * <p>Worked example, buckets of 100 ms: a span [80, 130) ms of cart without a peer, whose child is
 * a SERVER span of stock, gives (cart, unknown): bucket 0 -20 ms, bucket 100 -30 ms and -1
 * completion; (cart, stock): the same with +. Summed with what was counted at first, (cart,
 * unknown) is empty.
 */
public final class PeerMoves {
  /** A trace of many long spans would not fit memory: sums are given out when there are so many. */
  private static final int MAX_ROWS = 100_000;

  private static final Comparator<TraceSpan> FIRST =
      Comparator.comparingLong(TraceSpan::startNs)
          .thenComparing(span -> Long.reverseBytes(span.spanId()), Long::compareUnsigned);

  private final Partials moved;

  public PeerMoves(Spread spread) {
    moved = new Partials(spread);
  }

  /** Gives the partial rows by which the fine windows have to change. */
  public void of(Trace trace, Partials.Visitor out) {
    moveAll(trace, trace.spans(), out);
    moveAll(trace, trace.duplicates(), out);
    flush(out);
  }

  private void moveAll(Trace trace, Iterable<TraceSpan> spans, Partials.Visitor out) {
    for (TraceSpan span : spans) {
      if (span.movable()) {
        move(span, callee(trace.childrenOf(span)));
      }
      if (moved.rows() >= MAX_ROWS) {
        flush(out);
      }
    }
  }

  private void move(TraceSpan span, String callee) {
    ResourcePoint from = ResourcePoint.client(span.service(), span.instance(), span.peer());
    if (callee.isEmpty() || callee.equals(from.peer())) {
      return;
    }
    ResourcePoint to = ResourcePoint.client(span.service(), span.instance(), callee);
    moved.add(from, span.startNs(), span.endNs(), span.error(), -1);
    moved.add(to, span.startNs(), span.endNs(), span.error(), 1);
  }

  private void flush(Partials.Visitor out) {
    moved.forEach(out);
    moved.clear();
  }

  private static String callee(List<TraceSpan> children) {
    return children.stream()
        .filter(child -> child.kind() == Span.SERVER)
        .min(FIRST)
        .map(TraceSpan::service)
        .orElse("");
  }
}
