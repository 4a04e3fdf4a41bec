package dev.sluice.flink;

import dev.sluice.traces.CallEdges;
import dev.sluice.traces.Trace;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The calls of traces, one row for each edge and window. */
final class EdgeSums implements TraceSums {
  private final long windowMs;
  private final Texts texts = new Texts();
  private final Map<CallEdges.Key, CallEdges.Calls> edges = new HashMap<>();

  EdgeSums(Settings settings) {
    windowMs = settings.edgeWindowMs();
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    CallEdges.add(trace, windowMs, edges);
  }

  @Override
  public void preview(Trace trace, int times) {
    CallEdges.preview(trace, windowMs, edges, times);
  }

  @Override
  public int rows() {
    return edges.size();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    edges.forEach(
        (edge, calls) -> {
          byte[] latency = calls.latency().encode();
          // Neither, where one preview took back what another had just added: a row of no calls.
          if (latency.length > 0 || calls.closed() > 0) {
            out.accept(
                GenericRowData.of(
                    texts.of(edge.caller()),
                    texts.of(edge.callee()),
                    Rows.seconds(edge.windowMs()),
                    calls.calls(),
                    calls.errors(),
                    latency,
                    calls.closed()));
          }
        });
    edges.clear();
  }
}
