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
 * <p>Spans are movable only if their message is surely below the bound of {@link
 * WindowAccumulator}: what it cut of a span beyond cannot be told from the span.
 */
public final class FragmentAccumulator implements SpanStage {
  /** Receives one fragment. */
  @FunctionalInterface
  public interface Visitor {
    void visit(byte[] traceId, Fragment fragment);
  }

  private final Spread spread;
  private final Map<TraceId, List<Fragment>> fragments = new HashMap<>();
  private long touched;
  private TraceId lastId;
  private List<Fragment> lastOfTrace;
  private Fragment lastFragment;

  /** No span is movable. */
  public FragmentAccumulator() {
    this(null);
  }

  /**
   * @param spread how the fine windows spread the same spans
   */
  public FragmentAccumulator(Spread spread) {
    this.spread = spread;
  }

  @Override
  public Outcome accept(Span span) {
    if (lastId == null || !lastId.is(span)) {
      lastId = TraceId.of(span);
      lastOfTrace = fragments.computeIfAbsent(lastId, id -> new ArrayList<>(1));
      lastFragment = lastOfTrace.isEmpty() ? null : lastOfTrace.get(lastOfTrace.size() - 1);
    }
    if (lastFragment == null || lastFragment.isFull()) {
      lastFragment = new Fragment();
      lastOfTrace.add(lastFragment);
    }
    lastFragment.add(span);
    if (spread != null && (span.isServerSide() || span.isClientSide())) {
      touched += spread.touched(span.startNs(), span.endNs());
    }
    return Outcome.ACCEPTED;
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
