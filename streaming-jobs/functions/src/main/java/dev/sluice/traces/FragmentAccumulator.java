package dev.sluice.traces;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import dev.sluice.windows.Spread;
import dev.sluice.windows.WindowAccumulator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Groups the spans of one message by trace: one fragment for each.
 *
 * <p>Bounded: of more trace ids than are kept of one message the spans are given out without a
 * trace ({@link #isRest}), to be counted. A fragment has {@value #MOST_SPANS} spans at most.
 *
 * <p>Spans are movable only if their message is surely below the bound of {@link
 * WindowAccumulator}: what it cut of a span beyond cannot be told from the span.
 */
public final class FragmentAccumulator implements SpanStage {
  /** Receives one fragment. */
  @FunctionalInterface
  public interface Visitor {
    void visit(TraceId traceId, List<TraceSpan> spans);
  }

  static final int MOST_SPANS = 10_000;

  /** A map that held more is not cleared, which would cost as much for every message after it. */
  private static final int USUAL_TRACES = 1_000;

  // No span has it: it is not valid.
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
   * No span is movable.
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

  /** Whether this stands for trace ids beyond the bound: the spans are of no trace. */
  public static boolean isRest(TraceId traceId) {
    return REST.equals(traceId);
  }

  /** The broker appended the next message then. */
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
    boolean movable =
        spread != null && span.isClientSide() && !span.isPeerNamed() && !span.isShortened();
    last.add(TraceSpan.of(span, receivedMs, movable));
    if (spread != null && (span.isServerSide() || span.isClientSide())) {
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
      known = fragments.computeIfAbsent(kept, each -> new ArrayList<>(1));
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

  /** Visits the fragments of the current message, in no order. They are the visitor's. */
  public void forEach(Visitor visitor) {
    boolean settled = touched > WindowAccumulator.MAX_ROWS;
    fragments.forEach(
        (id, ofTrace) -> {
          for (List<TraceSpan> spans : ofTrace) {
            if (settled) {
              spans.replaceAll(TraceSpan::settled);
            }
            visitor.visit(id, spans);
          }
        });
  }
}
