package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.paths.TraceAccount;
import dev.sluice.traces.Session;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/**
 * What became of a closed trace, one row for each cause of {@link TraceAccount}, under the record
 * time of its first message.
 */
final class TraceCountRows {
  static final String TYPE =
      "ROW<cause STRING NOT NULL, service STRING NOT NULL, received TIMESTAMP_LTZ(3) NOT NULL,"
          + " traces BIGINT NOT NULL, spans BIGINT NOT NULL>";

  private final PathsOfTrace paths;

  TraceCountRows(PathsOfTrace paths) {
    this.paths = paths;
  }

  /**
   * Gives the rows of one trace.
   *
   * @param late whether the trace id was closed before, not long ago
   */
  void of(Session session, boolean late, Trace trace, Consumer<RowData> out) {
    TraceAccount account =
        new TraceAccount(session.atMaxAge(), late, trace.spans(), paths.walked(trace));
    account.forEach(
        (cause, spans) ->
            out.accept(
                GenericRowData.of(
                    text(cause),
                    text(account.service()),
                    Rows.countWindow(session.firstMs()),
                    1L,
                    (long) spans)));
  }
}
