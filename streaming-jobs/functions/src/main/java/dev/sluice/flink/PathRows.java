package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.paths.PathSummary;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The critical paths of a closed trace, one row for each; nearly always one. */
final class PathRows implements TraceRows {
  static final String TYPE =
      "ROW<" + PathKey.TYPE + ", signature STRING NOT NULL, trace_id BYTES NOT NULL>";

  private final PathKey key;
  private final PathsOfTrace paths;

  PathRows(Settings settings, PathsOfTrace paths) {
    this.key = new PathKey(settings.pathWindowMs());
    this.paths = paths;
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    for (PathSummary path : paths.of(trace)) {
      GenericRowData row = new GenericRowData(PathKey.SIZE + 2);
      key.fill(row, path);
      row.setField(PathKey.SIZE, text(path.signature()));
      row.setField(PathKey.SIZE + 1, traceId);
      out.accept(row);
    }
  }
}
