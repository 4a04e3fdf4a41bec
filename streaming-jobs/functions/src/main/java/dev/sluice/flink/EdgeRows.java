package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.traces.CallEdges;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The calls of a closed trace, one row for each edge and window. */
final class EdgeRows implements TraceRows {
  static final String TYPE =
      "ROW<caller STRING NOT NULL, callee STRING NOT NULL, window_start BIGINT NOT NULL,"
          + " calls BIGINT NOT NULL, errors BIGINT NOT NULL, latency BYTES NOT NULL,"
          + " contributions BIGINT NOT NULL>";

  private static final long MS_PER_S = 1_000;

  private final long windowMs;

  EdgeRows(Settings settings) {
    windowMs = settings.edgeWindowMs();
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    CallEdges.of(trace, windowMs)
        .forEach(
            (edge, calls) ->
                out.accept(
                    GenericRowData.of(
                        text(edge.caller()),
                        text(edge.callee()),
                        edge.windowMs() / MS_PER_S,
                        calls.calls(),
                        calls.errors(),
                        calls.latency().encode(),
                        calls.calls())));
  }
}
