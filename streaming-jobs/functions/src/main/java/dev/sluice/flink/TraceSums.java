package dev.sluice.flink;

import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** What closed traces add to one table: summed over traces, until it is given out. */
interface TraceSums {
  /** Adds a trace that was closed. */
  void add(byte[] traceId, Trace trace);

  /** How many rows there are. */
  int rows();

  /** Gives the rows, in no order, and forgets them. */
  void drain(Consumer<RowData> out);
}
