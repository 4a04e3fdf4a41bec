package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.paths.PathSummary;
import dev.sluice.paths.ServiceTime;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The services on the critical paths of a closed trace, one row for each path and service. */
final class OnPathRows implements TraceRows {
  static final String TYPE =
      "ROW<"
          + PathKey.TYPE
          + ", service STRING NOT NULL, self_ns BIGINT NOT NULL, upstream_ns BIGINT NOT NULL,"
          + " call_upstream_ns BIGINT NOT NULL, wait_ns BIGINT NOT NULL, blame_ns BIGINT NOT NULL>";

  private final PathKey key;
  private final PathsOfTrace paths;

  OnPathRows(Settings settings, PathsOfTrace paths) {
    this.key = new PathKey(settings.pathWindowMs());
    this.paths = paths;
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    for (PathSummary path : paths.of(trace)) {
      for (ServiceTime each : path.services()) {
        GenericRowData row = new GenericRowData(PathKey.SIZE + 6);
        key.fill(row, path);
        row.setField(PathKey.SIZE, text(each.service()));
        row.setField(PathKey.SIZE + 1, each.selfNs());
        row.setField(PathKey.SIZE + 2, each.upstreamNs());
        row.setField(PathKey.SIZE + 3, each.callUpstreamNs());
        row.setField(PathKey.SIZE + 4, each.waitNs());
        row.setField(PathKey.SIZE + 5, each.blameNs());
        out.accept(row);
      }
    }
  }
}
