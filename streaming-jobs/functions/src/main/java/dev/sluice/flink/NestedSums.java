package dev.sluice.flink;

import dev.sluice.rules.LeftOutAccumulator;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** Spans that closed traces take out of the fine windows; {@link MovedSums} finds them. */
final class NestedSums implements TraceSums {
  private final Texts texts = new Texts();
  private final LeftOutAccumulator left;

  NestedSums(Settings settings) {
    left = new LeftOutAccumulator(settings.sampleWindowMs(), span -> "");
  }

  /** Counts a span. */
  void take(TraceSpan span) {
    left.nested(span.attributesPoint(), span.operation(), span.endNs(), span.durationNs());
  }

  /** {@link #take} receives each span instead. */
  @Override
  public void add(byte[] traceId, Trace trace) {}

  @Override
  public int rows() {
    return left.rows();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    left.drain((span, count) -> out.accept(Rows.left(texts, span, count)));
  }
}
