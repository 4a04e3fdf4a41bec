package dev.sluice.traces;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import java.util.HashMap;
import java.util.Map;

/** Groups the spans of one message by trace: one fragment, and one shuffled row, for each. */
public final class FragmentAccumulator implements SpanStage {
  /** Receives one fragment. */
  @FunctionalInterface
  public interface Visitor {
    void visit(byte[] traceId, Fragment fragment);
  }

  private final Map<TraceId, Fragment> fragments = new HashMap<>();
  private TraceId lastId;
  private Fragment lastFragment;

  @Override
  public Outcome accept(Span span) {
    if (lastId == null || !lastId.is(span)) {
      lastId = TraceId.of(span);
      lastFragment = fragments.computeIfAbsent(lastId, id -> new Fragment());
    }
    lastFragment.add(span);
    return Outcome.ACCEPTED;
  }

  @Override
  public void clear() {
    fragments.clear();
    lastId = null;
  }

  /** Visits the fragments of the current message, in no order. */
  public void forEach(Visitor visitor) {
    fragments.forEach((id, fragment) -> visitor.visit(id.toBytes(), fragment));
  }
}
