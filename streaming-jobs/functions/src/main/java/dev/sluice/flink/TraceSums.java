package dev.sluice.flink;

import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** The contributions of closed traces to one table, summed over traces until they are emitted. */
interface TraceSums {
  /** Adds a trace that was closed. */
  void add(byte[] traceId, Trace trace);

  /** Number of rows. */
  int rows();

  /** Passes the rows on, in no order, and clears them. */
  void drain(Consumer<RowData> out);
}
