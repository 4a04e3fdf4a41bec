package dev.sluice.traces;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.otlp.Span;
import java.util.HashMap;
import java.util.Map;

/**
 * The calls between services that a trace shows, summed by window of the called span's end, or of
 * its record time where that is earlier.
 *
 * <ul>
 *   <li>A span whose parent belongs to another service is a call from there. The callee's own span
 *       measures it.
 *   <li>A CLIENT or PRODUCER span that names a peer, and has no child that shows the callee (one of
 *       another service, or a SERVER or CONSUMER span), is a call to that peer: a database, or a
 *       service that is not instrumented. The caller's span measures it.
 * </ul>
 *
 * The second rule needs the whole trace: decided earlier, a call whose SERVER span is still under
 * way would count twice.
 */
public final class CallEdges {
  /**
   * An edge in a window.
   *
   * @param windowMs start of the window, ms of the Unix epoch
   */
  public record Key(String caller, String callee, long windowMs) {}

  /** Mutable sums of one edge. */
  public static final class Calls {
    private long calls;
    private long errors;
    private final LatencyHistogram latency = new LatencyHistogram();

    private void add(TraceSpan span) {
      calls++;
      if (span.error()) {
        errors++;
      }
      latency.record(span.durationNs());
    }

    public long calls() {
      return calls;
    }

    public long errors() {
      return errors;
    }

    public LatencyHistogram latency() {
      return latency;
    }
  }

  private CallEdges() {}

  /** The calls of a trace by edge and window. */
  public static Map<Key, Calls> of(Trace trace, long windowMs) {
    Map<Key, Calls> edges = new HashMap<>();
    add(trace, windowMs, edges);
    return edges;
  }

  /** Adds the calls of a trace to those of others. */
  public static void add(Trace trace, long windowMs, Map<Key, Calls> edges) {
    for (int number = 0; number < trace.size(); number++) {
      TraceSpan span = trace.span(number);
      TraceSpan parent = trace.parentOf(number);
      if (parent != null && !parent.service().equals(span.service())) {
        add(edges, parent.service(), span.service(), span, windowMs);
      }
      if (callsUnseenPeer(trace, number)) {
        add(edges, span.service(), span.peer(), span, windowMs);
      }
    }
  }

  private static boolean callsUnseenPeer(Trace trace, int number) {
    TraceSpan span = trace.span(number);
    if ((span.kind() != Span.CLIENT && span.kind() != Span.PRODUCER) || span.peer().isEmpty()) {
      return false;
    }
    for (int at = trace.firstChild(number); at < trace.endOfChildren(number); at++) {
      TraceSpan child = trace.span(trace.child(at));
      if (child.kind() == Span.SERVER
          || child.kind() == Span.CONSUMER
          || !child.service().equals(span.service())) {
        return false;
      }
    }
    return true;
  }

  private static void add(
      Map<Key, Calls> edges, String caller, String callee, TraceSpan span, long windowMs) {
    edges
        .computeIfAbsent(new Key(caller, callee, span.shownWindowMs(windowMs)), key -> new Calls())
        .add(span);
  }
}
