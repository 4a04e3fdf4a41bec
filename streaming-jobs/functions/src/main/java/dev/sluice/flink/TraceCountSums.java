package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.paths.TraceAccount;
import dev.sluice.traces.Cause;
import dev.sluice.traces.Session;
import dev.sluice.traces.Trace;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;

/**
 * Counts of closed traces, one row for each cause of {@link TraceAccount}, service and window of
 * the record time of their first message.
 */
final class TraceCountSums {
  private record Key(String cause, String service, TimestampData received) {}

  private static final class Sum {
    private long traces;
    private long spans;
  }

  private final PathsOfTrace paths;
  private final Map<Key, Sum> sums = new HashMap<>();

  TraceCountSums(PathsOfTrace paths) {
    this.paths = paths;
  }

  /**
   * Adds one trace.
   *
   * @param late whether the trace id was closed before, not long ago
   */
  void add(Session session, Cause closed, boolean late, Trace trace) {
    TraceAccount account = new TraceAccount(closed, late, trace.spans(), paths.walked(trace));
    String service = account.service();
    TimestampData received = Rows.countWindow(session.firstMs());
    account.forEach(
        (cause, spans) -> {
          Sum sum = sums.computeIfAbsent(new Key(cause, service, received), absent -> new Sum());
          sum.traces++;
          sum.spans += spans;
        });
  }

  int rows() {
    return sums.size();
  }

  void drain(Consumer<RowData> out) {
    sums.forEach(
        (key, sum) ->
            out.accept(
                GenericRowData.of(
                    text(key.cause()),
                    text(key.service()),
                    key.received(),
                    sum.traces,
                    sum.spans)));
    sums.clear();
  }
}
