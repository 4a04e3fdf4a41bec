package dev.sluice.traces;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An assembled trace: its spans by id, each once.
 *
 * <p>The first of several spans with the same id is kept; spans beyond the bound are left out. Both
 * kinds are kept separately, for the accounts. A CLIENT and a SERVER span of one id are no repeat:
 * both stay, and the SERVER span gets an id of its own ({@link SharedIds}).
 */
public final class Trace {
  private final Map<Long, TraceSpan> spans = new LinkedHashMap<>();
  private final Map<Long, List<TraceSpan>> children = new HashMap<>();
  private final List<TraceSpan> duplicates = new ArrayList<>();
  private final List<TraceSpan> excess = new ArrayList<>();
  private boolean sharesIds;

  private Trace() {}

  /**
   * Assembles a trace.
   *
   * @param spans in order of arrival
   * @param maxSpans how many spans are kept
   */
  public static Trace assemble(Iterable<TraceSpan> spans, int maxSpans) {
    Trace trace = new Trace();
    for (TraceSpan span : spans) {
      trace.add(span, maxSpans);
    }
    if (trace.sharesIds) {
      trace = new Trace();
      for (TraceSpan span : SharedIds.apart(trace.keep(spans, maxSpans))) {
        trace.add(span, maxSpans);
      }
    }
    for (TraceSpan span : trace.spans.values()) {
      if (span.parentId() != 0) {
        trace.children.computeIfAbsent(span.parentId(), id -> new ArrayList<>()).add(span);
      }
    }
    return trace;
  }

  private void add(TraceSpan span, int maxSpans) {
    boolean room = spans.size() < maxSpans;
    TraceSpan known = room ? spans.putIfAbsent(span.spanId(), span) : spans.get(span.spanId());
    if (known != null) {
      sharesIds |= SharedIds.isPair(known, span);
      duplicates.add(span);
    } else if (!room) {
      excess.add(span);
    }
  }

  /** The spans that are kept, where a shared id counts for both sides; sets others aside. */
  private List<TraceSpan> keep(Iterable<TraceSpan> spans, int maxSpans) {
    Set<Long> keys = new HashSet<>();
    List<TraceSpan> kept = new ArrayList<>();
    for (TraceSpan span : spans) {
      long key = SharedIds.key(span);
      if (keys.contains(key)) {
        duplicates.add(span);
      } else if (keys.size() >= maxSpans) {
        excess.add(span);
      } else {
        keys.add(key);
        kept.add(span);
      }
    }
    return kept;
  }

  public Collection<TraceSpan> spans() {
    return spans.values();
  }

  /**
   * The spans that are kept and those that repeat their ids: all that were added while there was
   * room.
   */
  Iterable<TraceSpan> all() {
    return duplicates.isEmpty()
        ? spans.values()
        : () -> Stream.concat(spans.values().stream(), duplicates.stream()).iterator();
  }

  /** The span of an id, or null. */
  TraceSpan byId(long id) {
    return spans.get(id);
  }

  /** The parent, or null for a root and for an orphan. */
  public TraceSpan parentOf(TraceSpan span) {
    return span.parentId() == 0 ? null : spans.get(span.parentId());
  }

  public List<TraceSpan> childrenOf(TraceSpan span) {
    return children.getOrDefault(span.spanId(), List.of());
  }

  /** Spans left out because their id was there already. */
  public List<TraceSpan> duplicates() {
    return duplicates;
  }

  /** Spans left out because the trace has more than are kept. */
  public List<TraceSpan> excess() {
    return excess;
  }
}
