package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;

/**
 * Finds spans within another span that holds the same place in a pool. A request holds a thread, or
 * a connection, once, however many spans report it. The outermost span shows for how long.
 *
 * <p>A SERVER span is nested if a SERVER span of its service and instance is above it. A CLIENT
 * span is nested if a CLIENT span of its service and instance is above it, towards the peer in its
 * attributes. Above are the parent, its parent and so on, as long as they are of the same service:
 * a call that comes back by way of another service takes another thread. For SERVER spans the way
 * ends at messages (PRODUCER, CONSUMER), for CLIENT spans at SERVER spans too; it does not end at
 * CLIENT spans for SERVER ones, as a sidecar (Envoy) has one between its own SERVER span and the
 * application's.
 *
 * <p>If both instances are known and differ, both spans count: a replica called another. A SERVER
 * span that names no instance is nested in a span of any instance, and may be around one: above a
 * span of a known instance it gives way to it, so that the thread counts at its instance. So does a
 * sidecar's span ({@link Place#SIDECAR}), whatever instance it names: it waits for the
 * application's span. Below another span it is nested if both are of one instance, or if that one
 * names none. A sidecar's CLIENT span is nested in the nearest CLIENT span above, whatever peer and
 * instance that one names: it passes on the same call.
 *
 * <p>A span that is nested in a part of a trace is nested in all of it: more spans only add spans
 * above. A ring of parents has nothing above.
 *
 * <p>Worked example: cart's SERVER span, below it a CLIENT span and a SERVER span of the same
 * instance: the second SERVER span is nested, the CLIENT span is not.
 */
final class Nesting {
  /** Receives the results. */
  @FunctionalInterface
  interface Visitor {
    /**
     * @param outermost for a client span the one that counts for it; null for other spans
     */
    void nested(TraceSpan span, TraceSpan outermost);
  }

  /** How many client spans of one service, each in the next, the search passes. */
  private static final int DEEPEST = 16;

  /** The client spans above, the nearest first. */
  private record Clients(TraceSpan span, Clients above) {}

  /**
   * The spans above a span.
   *
   * @param server the nearest SERVER span; null if none
   * @param known the nearest that has an instance, and is no sidecar's; null if none
   * @param clients null if none
   */
  private record Above(TraceSpan server, TraceSpan known, Clients clients) {
    private static final Above NOTHING = new Above(null, null, null);
  }

  private static final Above PENDING = new Above(null, null, null);

  private final LongFunction<TraceSpan> byId;
  // By id, for spans that byId returns; both are null until there is something to remember.
  private Map<Long, Above> known;
  private Set<Long> givesWay;

  /**
   * @param byId the span of an id in the trace, or in the present part of it; null if none
   */
  Nesting(LongFunction<TraceSpan> byId) {
    this.byId = byId;
  }

  /** Visits each nested span once. */
  void of(Iterable<TraceSpan> spans, Visitor out) {
    boolean anonymous = false;
    for (TraceSpan span : spans) {
      anonymous |= isServer(span) && standsIn(span);
    }
    if (anonymous) {
      givesWay = new HashSet<>();
      spans.forEach(this::giveWay);
    }
    for (TraceSpan span : spans) {
      if (span.place() != Place.NONE) {
        judge(span, out);
      }
    }
  }

  private void judge(TraceSpan span, Visitor out) {
    if (isServer(span)) {
      if (isNestedServer(span)) {
        out.nested(span, null);
      }
    } else if (span.kind() == Span.CLIENT) {
      TraceSpan outermost = outermost(span);
      if (outermost != null) {
        out.nested(span, outermost);
      }
    }
  }

  private boolean isNestedServer(TraceSpan span) {
    if (standsIn(span) && givesWay != null && givesWay.contains(span.spanId())) {
      return true;
    }
    if (parent(span) == null) { // true of most spans
      return false;
    }
    Above above = above(span);
    if (standsIn(span)) {
      return above.server != null
          && (span.instance().isEmpty()
              || above.server.instance().isEmpty()
              || above.server.instance().equals(span.instance()));
    }
    return above.known != null && above.known.instance().equals(span.instance());
  }

  private TraceSpan outermost(TraceSpan span) {
    TraceSpan parent = parent(span);
    if (parent == null || parent.kind() == Span.SERVER) { // true of most spans
      return null;
    }
    Clients at = above(span).clients;
    TraceSpan like = span.isSidecar() && at != null ? at.span : span;
    TraceSpan outermost = like == span ? null : like;
    for (int depth = 0; at != null && depth < DEEPEST && !like.peer().isEmpty(); depth++) {
      if (at.span.peer().equals(like.peer()) && at.span.instance().equals(like.instance())) {
        outermost = at.span;
      }
      at = at.above;
    }
    return outermost;
  }

  /** Marks the SERVER spans that stand in above one that does not. */
  private void giveWay(TraceSpan span) {
    if (!isServer(span) || standsIn(span) || parent(span) == null) {
      return;
    }
    TraceSpan at = above(span).server;
    while (at != null && standsIn(at) && givesWay.add(at.spanId())) {
      at = above(at).server;
    }
  }

  /** Whether a SERVER span counts only while no span of its application is below it. */
  private static boolean standsIn(TraceSpan span) {
    return span.isSidecar() || span.instance().isEmpty();
  }

  private static boolean isServer(TraceSpan span) {
    return span.kind() == Span.SERVER && span.place() != Place.NONE;
  }

  /** The parent, if it exists and is of the same service. */
  private TraceSpan parent(TraceSpan span) {
    TraceSpan parent = span.parentId() == 0 ? null : byId.apply(span.parentId());
    return parent != null && parent.service().equals(span.service()) ? parent : null;
  }

  private Above above(TraceSpan span) {
    if (known == null) {
      known = new HashMap<>();
    }
    if (byId.apply(span.spanId()) == span) {
      Above above = known.get(span.spanId());
      return above == null ? find(span) : above;
    }
    TraceSpan parent = parent(span); // it repeats the id of another: nothing is below it
    return parent == null || parent.spanId() == span.spanId()
        ? Above.NOTHING
        : below(above(parent), parent);
  }

  /** Walks up to a known span, and back; without recursion, because a trace may be a chain. */
  private Above find(TraceSpan span) {
    List<TraceSpan> path = new ArrayList<>();
    for (TraceSpan at = span; at != null && !known.containsKey(at.spanId()); at = parent(at)) {
      known.put(at.spanId(), PENDING);
      path.add(at);
    }
    TraceSpan last = path.get(path.size() - 1);
    TraceSpan met = parent(last);
    if (met != null && known.get(met.spanId()) == PENDING) {
      int ring = path.indexOf(met);
      for (TraceSpan member : path.subList(ring, path.size())) {
        known.put(member.spanId(), Above.NOTHING);
      }
      path.subList(ring, path.size()).clear();
    }
    for (int i = path.size() - 1; i >= 0; i--) {
      TraceSpan member = path.get(i);
      TraceSpan parent = parent(member);
      known.put(
          member.spanId(),
          parent == null ? Above.NOTHING : below(known.get(parent.spanId()), parent));
    }
    return known.get(span.spanId());
  }

  /**
   * The spans above a child of a span, of the same service, where `above` are those above the span.
   */
  private static Above below(Above above, TraceSpan span) {
    boolean counts = span.place() != Place.NONE;
    return switch (span.kind()) {
      case Span.SERVER ->
          counts
              ? new Above(span, standsIn(span) ? above.known : span, null)
              : new Above(above.server, above.known, null);
      case Span.CLIENT ->
          counts ? new Above(above.server, above.known, new Clients(span, above.clients)) : above;
      case Span.PRODUCER, Span.CONSUMER -> Above.NOTHING;
      default -> above;
    };
  }
}
