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
 * Groups the spans of one message by trace: one fragment, and one shuffled row, for each; more only
 * where their names do not fit one.
 *
 * <p>Bounded: of more trace ids than are kept of one message the spans are given out without a
 * trace ({@link #isRest}), to be counted.
 *
 * <p>Spans are movable only if their message is surely below the bound of {@link
 * WindowAccumulator}: what it cut of a span beyond cannot be told from the span.
 */
public final class FragmentAccumulator implements SpanStage {
  /** Receives one fragment. */
  @FunctionalInterface
  public interface Visitor {
    void visit(byte[] traceId, Fragment fragment);
  }

  /** Spans of one fragment of the rest. */
  private static final int REST_SPANS = 10_000;

  // No span has it: it is not valid.
  private static final TraceId REST = new TraceId(0, 0);

  private final Spread spread;
  private final int maxTraces;
  private final Map<TraceId, List<Fragment>> fragments = new HashMap<>();
  private long touched;
  private TraceId lastId;
  private List<Fragment> lastOfTrace;
  private Fragment lastFragment;

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
  public static boolean isRest(byte[] traceId) {
    return TraceId.of(traceId).equals(REST);
  }

  @Override
  public Outcome accept(Span span) {
    if (lastId == null || !lastId.is(span)) {
      lastId = TraceId.of(span);
      lastOfTrace = ofTrace(lastId);
      lastFragment = lastOfTrace.isEmpty() ? null : lastOfTrace.get(lastOfTrace.size() - 1);
    }
    if (lastFragment == null || lastFragment.isFull() || isFullRest()) {
      lastFragment = new Fragment();
      lastOfTrace.add(lastFragment);
    }
    lastFragment.add(span);
    if (spread != null && (span.isServerSide() || span.isClientSide())) {
      long from =
          span.isShortened() ? spread.shortFrom(span.startNs(), span.endNs()) : span.startNs();
      touched += spread.touched(from, span.endNs());
    }
    return Outcome.ACCEPTED;
  }

  private List<Fragment> ofTrace(TraceId id) {
    List<Fragment> known = fragments.get(id);
    if (known == null) {
      TraceId kept = fragments.size() < maxTraces ? id : REST;
      known = fragments.computeIfAbsent(kept, each -> new ArrayList<>(1));
    }
    return known;
  }

  private boolean isFullRest() {
    return lastFragment.size() >= REST_SPANS && lastOfTrace == fragments.get(REST);
  }

  @Override
  public void clear() {
    fragments.clear();
    lastId = null;
    touched = 0;
  }

  /** Visits the fragments of the current message, in no order. */
  public void forEach(Visitor visitor) {
    boolean settled = spread == null || touched > WindowAccumulator.MAX_ROWS;
    fragments.forEach(
        (id, ofTrace) -> {
          for (Fragment fragment : ofTrace) {
            if (settled) {
              fragment.settle();
            }
            visitor.visit(id.toBytes(), fragment);
          }
        });
  }
}
