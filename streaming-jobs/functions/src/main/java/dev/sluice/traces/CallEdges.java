package dev.sluice.traces;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.latency.LatencyIndex;
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
 * way would count twice. What an open trace shows by the first rule holds, whatever comes of it
 * later; a preview counts those calls, and the closed trace the others.
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
    private long closed;
    private final LatencyHistogram latency = new LatencyHistogram();

    private void add(TraceSpan span, int times) {
      calls += times;
      if (span.error()) {
        errors += times;
      }
      latency.add(LatencyIndex.of(span.durationNs()), times);
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

    /**
     * Those of them that closed traces added: the same in the end, whatever previews there were.
     */
    public long closed() {
      return closed;
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
      if (isCalled(trace, number)) {
        add(edges, trace.parentOf(number).service(), span.service(), span, windowMs, 1).closed++;
      }
      if (callsUnseenPeer(trace, number)) {
        add(edges, span.service(), span.peer(), span, windowMs, 1).closed++;
      }
    }
  }

  /**
   * Adds the calls that hold whatever comes of the trace later: those whose SERVER or CONSUMER span
   * is there, below one of another service. Any other span below one of another service may get a
   * SERVER span between them, where tracers share ids ({@link SharedIds}).
   *
   * @param times 1, or -1 to take back what an earlier preview added
   */
  public static void preview(Trace trace, long windowMs, Map<Key, Calls> edges, int times) {
    for (int number = 0; number < trace.size(); number++) {
      TraceSpan span = trace.span(number);
      if (isEntry(span) && isCalled(trace, number)) {
        add(edges, trace.parentOf(number).service(), span.service(), span, windowMs, times);
      }
    }
  }

  private static boolean isCalled(Trace trace, int number) {
    TraceSpan parent = trace.parentOf(number);
    return parent != null && !parent.service().equals(trace.span(number).service());
  }

  private static boolean isEntry(TraceSpan span) {
    return span.kind() == Span.SERVER || span.kind() == Span.CONSUMER;
  }

  private static boolean callsUnseenPeer(Trace trace, int number) {
    TraceSpan span = trace.span(number);
    if ((span.kind() != Span.CLIENT && span.kind() != Span.PRODUCER) || span.peer().isEmpty()) {
      return false;
    }
    for (int at = trace.firstChild(number); at < trace.endOfChildren(number); at++) {
      TraceSpan child = trace.span(trace.child(at));
      if (isEntry(child) || !child.service().equals(span.service())) {
        return false;
      }
    }
    return true;
  }

  private static Calls add(
      Map<Key, Calls> edges,
      String caller,
      String callee,
      TraceSpan span,
      long windowMs,
      int times) {
    Key edge = new Key(caller, callee, span.shownWindowMs(windowMs));
    Calls calls = edges.computeIfAbsent(edge, key -> new Calls());
    calls.add(span, times);
    return calls;
  }
}
