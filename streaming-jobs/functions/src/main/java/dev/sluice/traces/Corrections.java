package dev.sluice.traces;

import dev.sluice.otlp.Span;
import dev.sluice.windows.Partials;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Spread;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Corrections of the fine windows that only a whole trace shows, as partial rows with negative and
 * positive sums:
 *
 * <ul>
 *   <li>a span within another ({@link Nesting}) of another message leaves the sums in which it was
 *       counted;
 *   <li>a client span that was counted under its address, or under "unknown", moves to the service
 *       of its SERVER child (design, section 2, "Identity"); one without such a child moves to the
 *       service of the client spans that are nested in it. A CONSUMER span is no such child: the
 *       sender of its message holds a connection to the broker, and waits for no threads. One that
 *       was counted under the callee that is known for its address ({@link Callees}) moves where
 *       its trace shows another one, and back to the address where it shows none.
 * </ul>
 *
 * <p>If there are several children (a retried request), the first to start names the peer, then the
 * one with the smaller id. A span that came several times was counted as often, and moves or leaves
 * as often. Spans beyond the trace's bound stay.
 *
 * <p>Worked example, buckets of 100 ms: a span [80, 130) ms of cart without a peer, whose child is
 * a SERVER span of stock, gives (cart, unknown): bucket 0 -20 ms, bucket 100 -30 ms and -1
 * completion; (cart, stock): the same with +. Summed with what was counted at first, (cart,
 * unknown) is empty.
 */
public final class Corrections {
  /**
   * A trace of many long spans would not fit into memory: sums are emitted at this number of rows.
   */
  private static final int MAX_ROWS = 100_000;

  private static final Comparator<TraceSpan> FIRST =
      Comparator.comparingLong(TraceSpan::startNs)
          .thenComparing(span -> Long.reverseBytes(span.spanId()), Long::compareUnsigned);

  private final Partials changes;
  private final Callees callees;
  // Of the present trace; nearly every trace leaves both empty.
  private Set<TraceSpan> nested = identities();
  // By the id of the span that counts for them: the first of the client spans nested in it that
  // shows a peer.
  private Map<Long, TraceSpan> within = new HashMap<>(0);

  /**
   * @param callees learns who answers
   */
  public Corrections(Spread spread, Callees callees) {
    changes = new Partials(spread);
    this.callees = callees;
  }

  /**
   * Emits the partial rows by which the fine windows have to change.
   *
   * @param takenBack receives each span that was counted and is nested
   */
  public void of(Trace trace, Partials.Visitor out, Consumer<TraceSpan> takenBack) {
    new Nesting(trace::byId)
        .of(
            trace.all(),
            (span, outermost) -> {
              if (span.counted()) {
                nested.add(span);
              }
              if (outermost != null && !callee(trace, span).isEmpty()) {
                within.merge(outermost.spanId(), span, (a, b) -> FIRST.compare(b, a) < 0 ? b : a);
              }
            });
    for (TraceSpan span : trace.all()) {
      if (nested.contains(span)) {
        changes.add(span.point(), span.startNs(), span.endNs(), span.error(), -1);
        takenBack.accept(span);
      } else if (span.movable()) {
        String callee = callee(trace, span);
        TraceSpan inner = callee.isEmpty() ? within.get(span.spanId()) : null;
        move(span, inner == null ? callee : callee(trace, inner));
      }
      if (changes.rows() >= MAX_ROWS) {
        flush(out);
      }
    }
    flush(out);
    forget();
  }

  private void forget() {
    if (!nested.isEmpty()) {
      nested = identities();
    }
    if (!within.isEmpty()) {
      within = new HashMap<>(0);
    }
  }

  private static Set<TraceSpan> identities() {
    return Collections.newSetFromMap(new IdentityHashMap<>(0));
  }

  private void move(TraceSpan span, String callee) {
    callees.add(span.service(), span.peer(), callee);
    ResourcePoint from = span.point();
    String peer = callee.isEmpty() ? span.peer() : callee;
    ResourcePoint to = ResourcePoint.client(span.service(), span.instance(), peer);
    if (to.peer().equals(from.peer())) {
      return;
    }
    changes.add(from, span.startNs(), span.endNs(), span.error(), -1);
    changes.add(to, span.startNs(), span.endNs(), span.error(), 1);
  }

  private void flush(Partials.Visitor out) {
    changes.forEach(out);
    changes.clear();
  }

  private static String callee(Trace trace, TraceSpan caller) {
    TraceSpan first = null;
    int number = trace.numberOf(caller);
    for (int at = trace.firstChild(number); at < trace.endOfChildren(number); at++) {
      TraceSpan child = trace.span(trace.child(at));
      if (child.kind() == Span.SERVER && (first == null || FIRST.compare(child, first) < 0)) {
        first = child;
      }
    }
    return first == null ? "" : first.service();
  }
}
