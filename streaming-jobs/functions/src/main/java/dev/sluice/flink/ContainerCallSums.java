package dev.sluice.flink;

import dev.sluice.traces.ContainerCalls;
import dev.sluice.traces.Trace;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The calls between containers in closed traces, one row for each two containers and window. */
final class ContainerCallSums implements TraceSums {
  private final long windowMs;
  private final Texts texts = new Texts();
  private final Map<ContainerCalls.Key, Long> calls = new HashMap<>();

  ContainerCallSums(Settings settings) {
    windowMs = settings.edgeWindowMs();
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    ContainerCalls.add(trace, windowMs, calls);
  }

  @Override
  public int rows() {
    return calls.size();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    calls.forEach(
        (key, count) ->
            out.accept(
                GenericRowData.of(
                    texts.of(key.caller()),
                    texts.of(key.callerInstance()),
                    texts.of(key.callee()),
                    texts.of(key.calleeInstance()),
                    Rows.seconds(key.windowMs()),
                    count)));
    calls.clear();
  }
}
