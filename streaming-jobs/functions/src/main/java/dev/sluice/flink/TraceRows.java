package dev.sluice.flink;

import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** What one column of {@link ClosedTraces} says of a trace. */
@FunctionalInterface
interface TraceRows {
  /** Gives the column's rows for one trace that was closed. */
  void of(byte[] traceId, Trace trace, Consumer<RowData> out);
}
