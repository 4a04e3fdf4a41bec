package dev.sluice.flink;

import dev.sluice.traces.Callees;
import dev.sluice.traces.Corrections;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.WindowSums;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** Changes of the fine windows by closed traces: spans that move to a peer, or are nested. */
final class MovedSums implements TraceSums {
  private final Texts texts = new Texts();
  private final Corrections corrections;
  private final Consumer<TraceSpan> nested;
  private final WindowSums<ResourcePoint, Partial> sums = new WindowSums<>();

  /**
   * @param callees learns who answers
   * @param nested receives spans that are taken back
   */
  MovedSums(Settings settings, Callees callees, Consumer<TraceSpan> nested) {
    corrections = new Corrections(settings.spread(), callees);
    this.nested = nested;
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    corrections.of(trace, sums::add, nested);
  }

  @Override
  public int rows() {
    return sums.rows();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    sums.drain((point, partial) -> out.accept(Rows.partial(texts, point, partial)));
  }
}
