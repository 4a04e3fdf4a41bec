package dev.sluice.traces;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import dev.sluice.windows.Spread;
import dev.sluice.windows.WindowAccumulator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Groups the spans of one message by trace, into one fragment for each.
 *
 * <p>Bounded: spans of trace ids beyond the limit of one message are emitted without a trace
 * ({@link #isRest}), to be counted. A fragment has at most {@value #MOST_SPANS} spans.
 *
 * <p>Spans can be moved and taken back only if their message is certainly below the bound of {@link
 * WindowAccumulator}: beyond it, the part that was cut of a span is not known.
 */
public final class FragmentAccumulator implements SpanStage {
  /** Receives one fragment. */
  @FunctionalInterface
  public interface Visitor {
    void visit(TraceId traceId, List<TraceSpan> spans);
  }

  static final int MOST_SPANS = 10_000;

  /** Up to this many spans of one trace are searched one by one: a map of them would cost more. */
  private static final int FEW = 8;

  /**
   * A larger map is replaced instead of cleared, because clearing would cost as much for every
   * later message.
   */
  private static final int USUAL_TRACES = 1_000;

  // No span has it, because it is not valid.
  private static final TraceId REST = new TraceId(0, 0);

  private final Spread spread;
  private final int maxTraces;
  private Map<TraceId, List<List<TraceSpan>>> fragments = new HashMap<>();
  private long receivedMs;
  private long touched;
  private TraceId lastId;
  private List<List<TraceSpan>> lastOfTrace;
  private List<TraceSpan> last;

  /**
   * For spans that are in no fine window.
   *
   * @param maxTraces trace ids of one message that are kept
   */
  public FragmentAccumulator(int maxTraces) {
    this(maxTraces, null);
  }

  /**
   * @param maxTraces trace ids of one message that are kept
   * @param spread how the fine windows spread the same spans
   */
  public FragmentAccumulator(int maxTraces, Spread spread) {
    this.maxTraces = maxTraces;
    this.spread = spread;
  }

  /** Whether this stands for trace ids beyond the bound: the spans belong to no trace. */
  public static boolean isRest(TraceId traceId) {
    return REST.equals(traceId);
  }

  /** The broker appended the next message at this time. */
  public FragmentAccumulator at(long recordMs) {
    receivedMs = recordMs;
    return this;
  }

  @Override
  public Outcome accept(Span span) {
    if (lastId == null || !lastId.is(span)) {
      lastId = TraceId.of(span);
      lastOfTrace = ofTrace(lastId);
      last = lastOfTrace.isEmpty() ? null : lastOfTrace.get(lastOfTrace.size() - 1);
    }
    if (last == null || last.size() >= MOST_SPANS) {
      last = new ArrayList<>(1);
      lastOfTrace.add(last);
    }
    last.add(TraceSpan.of(span, receivedMs, spread == null ? Place.NONE : Place.of(span)));
    if (spread != null && span.use().counts() && (span.isServerSide() || span.isClientSide())) {
      long from =
          span.isShortened() ? spread.shortFrom(span.startNs(), span.endNs()) : span.startNs();
      touched += spread.touched(from, span.endNs());
    }
    return Outcome.ACCEPTED;
  }

  private List<List<TraceSpan>> ofTrace(TraceId id) {
    List<List<TraceSpan>> known = fragments.get(id);
    if (known == null) {
      TraceId kept = fragments.size() < maxTraces ? id : REST;
      known = fragments.computeIfAbsent(kept, absent -> new ArrayList<>(1));
    }
    return known;
  }

  @Override
  public void clear() {
    if (fragments.size() > USUAL_TRACES) {
      fragments = new HashMap<>();
    } else {
      fragments.clear();
    }
    lastId = null;
    touched = 0;
  }

  /**
   * Finds, once all spans of the message are there, the spans that are nested in others of it, and
   * passes on each that was counted: it has to be taken back. From then on it counts as not
   * counted.
   */
  public void takeNested(Consumer<TraceSpan> out) {
    if (spread == null) {
      return;
    }
    if (touched > WindowAccumulator.MAX_ROWS) {
      fragments.values().forEach(FragmentAccumulator::settle);
      return;
    }
    fragments.forEach(
        (id, ofTrace) -> {
          if (!isRest(id)) {
            takeNested(ofTrace, out);
          }
        });
  }

  private static void settle(List<List<TraceSpan>> ofTrace) {
    ofTrace.forEach(spans -> spans.replaceAll(TraceSpan::settled));
  }

  private static void takeNested(List<List<TraceSpan>> ofTrace, Consumer<TraceSpan> out) {
    List<TraceSpan> spans = ofTrace.size() == 1 ? ofTrace.get(0) : flat(ofTrace);
    if (spans.size() == 1) {
      return;
    }
    List<TraceSpan> nested = new ArrayList<>(0);
    new Nesting(lookup(spans))
        .of(
            spans,
            (span, outermost) -> {
              if (span.counted()) {
                nested.add(span);
              }
            });
    if (!nested.isEmpty()) {
      nested.forEach(out);
      settle(ofTrace, nested);
    }
  }

  private static void settle(List<List<TraceSpan>> ofTrace, List<TraceSpan> nested) {
    Set<TraceSpan> settled = Collections.newSetFromMap(new IdentityHashMap<>());
    settled.addAll(nested);
    for (List<TraceSpan> spans : ofTrace) {
      spans.replaceAll(span -> settled.contains(span) ? span.settled() : span);
    }
  }

  private static List<TraceSpan> flat(List<List<TraceSpan>> ofTrace) {
    return ofTrace.stream().flatMap(List::stream).toList();
  }

  /** The first of several spans with the same id. */
  private static LongFunction<TraceSpan> lookup(List<TraceSpan> spans) {
    if (spans.size() <= FEW) {
      return id -> {
        for (TraceSpan span : spans) {
          if (span.spanId() == id) {
            return span;
          }
        }
        return null;
      };
    }
    Map<Long, TraceSpan> byId = new HashMap<>();
    for (TraceSpan span : spans) {
      byId.putIfAbsent(span.spanId(), span);
    }
    return byId::get;
  }

  /** Visits the fragments of the current message, in no order. The visitor owns them. */
  public void forEach(Visitor visitor) {
    fragments.forEach((id, ofTrace) -> ofTrace.forEach(spans -> visitor.visit(id, spans)));
  }
}
