package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Separates pairs whose CLIENT and SERVER span share one id, as Zipkin's B3 propagation has it
 * (openzipkin/b3-propagation, "Single or shared span ids"): the SERVER span gets an id that is
 * derived from the shared one, and the CLIENT span as its parent. All other code then sees the
 * spans of a tracer that gives each span its own id.
 *
 * <p>The parent of a span below the shared id is the CLIENT span if its service is the caller's
 * alone; otherwise it is the SERVER span, which passed the id on last.
 *
 * <p>Worked example: front's CLIENT span 2 and cart's SERVER span 2, both below 1; cart's CLIENT
 * span 3 below 2. cart's SERVER span becomes d(2) below 2, and 3 is below d(2).
 */
public final class SharedIds {
  // SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): its
  // increment and the factors of its output, which is a bijection.
  private static final long INCREMENT = 0x9E37_79B9_7F4A_7C15L;
  private static final long FIRST = 0xBF58_476D_1CE4_E5B9L;
  private static final long SECOND = 0x94D0_49BB_1331_11EBL;

  /** The services of the two sides of a shared id. */
  private static final class Sides {
    final Set<String> callers = new HashSet<>(2);
    final Set<String> callees = new HashSet<>(2);

    boolean isOfCaller(TraceSpan span) {
      return callers.contains(span.service()) && !callees.contains(span.service());
    }
  }

  private SharedIds() {}

  /** The id that replaces a shared one for a SERVER span; never 0, the same for the same id. */
  static long derived(long sharedId) {
    // In the order of the bytes, as the id is written.
    long mixed = Long.reverseBytes(sharedId) + INCREMENT;
    mixed = (mixed ^ mixed >>> 30) * FIRST;
    mixed = (mixed ^ mixed >>> 27) * SECOND;
    mixed ^= mixed >>> 31;
    return mixed == 0 ? 1 : Long.reverseBytes(mixed);
  }

  /** Equal for a span of a trace and its repeats; other spans of their id do not matter. */
  static long key(TraceSpan span) {
    return span.kind() == Span.SERVER ? derived(span.spanId()) : span.spanId();
  }

  /** Whether two spans of one id are the two sides of a call. */
  static boolean isPair(TraceSpan span, TraceSpan other) {
    return span.kind() == Span.CLIENT && other.kind() == Span.SERVER
        || span.kind() == Span.SERVER && other.kind() == Span.CLIENT;
  }

  /** The id that the span was sent with. */
  public static long sent(TraceSpan span) {
    boolean isDerived =
        span.kind() == Span.SERVER
            && span.parentId() != 0
            && span.spanId() == derived(span.parentId());
    return isDerived ? span.parentId() : span.spanId();
  }

  /**
   * The spans of one trace with separate ids for each pair, in their order; the list itself where
   * no id is shared. Repeats stay repeats.
   */
  public static List<TraceSpan> apart(List<TraceSpan> spans) {
    Map<Long, Sides> shared = shared(spans);
    if (shared.isEmpty()) {
      return spans;
    }
    List<TraceSpan> apart = new ArrayList<>(spans.size());
    for (TraceSpan span : spans) {
      if (span.kind() == Span.SERVER && shared.containsKey(span.spanId())) {
        apart.add(span.with(derived(span.spanId()), span.spanId()));
        continue;
      }
      Sides above = shared.get(span.parentId());
      boolean moves = above != null && !above.isOfCaller(span);
      apart.add(moves ? span.with(span.spanId(), derived(span.parentId())) : span);
    }
    return apart;
  }

  private static Map<Long, Sides> shared(List<TraceSpan> spans) {
    Set<Long> ids = new HashSet<>();
    boolean repeated = false;
    for (TraceSpan span : spans) {
      repeated |= !ids.add(span.spanId());
    }
    Map<Long, Sides> sides = new HashMap<>();
    if (!repeated) {
      return sides;
    }
    for (TraceSpan span : spans) {
      if (span.kind() == Span.CLIENT || span.kind() == Span.SERVER) {
        Sides ends = sides.computeIfAbsent(span.spanId(), id -> new Sides());
        (span.kind() == Span.CLIENT ? ends.callers : ends.callees).add(span.service());
      }
    }
    sides.values().removeIf(ends -> ends.callers.isEmpty() || ends.callees.isEmpty());
    return sides;
  }
}
