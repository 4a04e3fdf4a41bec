package dev.sluice.flink;

import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** The contributions of traces to one table, summed over traces until they are emitted. */
interface TraceSums {
  /** Adds a trace that was closed. What a preview of it added was taken back. */
  void add(byte[] traceId, Trace trace);

  /**
   * Adds what holds of an open trace whatever comes of it later.
   *
   * @param times 1, or -1 to take it back
   */
  default void preview(Trace trace, int times) {}

  /** Number of rows. */
  int rows();

  /** Passes the rows on, in no order, and clears them. */
  void drain(Consumer<RowData> out);
}
