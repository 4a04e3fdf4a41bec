package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.traces.Trace;
import dev.sluice.trees.CallTree;
import dev.sluice.trees.CallTrees;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The call trees of a closed trace, one row for each root, in the window of the root's end. */
final class TreeRows implements TraceRows {
  static final String TYPE =
      "ROW<service STRING NOT NULL, operation STRING NOT NULL, window_start BIGINT NOT NULL,"
          + " tree STRING NOT NULL>";

  private static final long MS_PER_S = 1_000;

  private final long windowMs;

  TreeRows(Settings settings) {
    windowMs = settings.edgeWindowMs();
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    for (CallTree tree : CallTrees.of(trace)) {
      out.accept(
          GenericRowData.of(
              text(tree.root().service()),
              text(tree.root().operation()),
              tree.root().windowMs(windowMs) / MS_PER_S,
              text(tree.text())));
    }
  }
}
