package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.paths.PathSummary;
import dev.sluice.traces.TraceSpan;
import org.apache.flink.table.data.GenericRowData;

/**
 * The columns that say which request a critical path belongs to, and how long it took. A path is
 * incomplete when its root is an orphan; its window is that of its root span's end.
 */
final class PathKey {
  static final String TYPE =
      "root_service STRING NOT NULL, root_operation STRING NOT NULL, complete BOOLEAN NOT NULL,"
          + " window_start BIGINT NOT NULL, duration_ns BIGINT NOT NULL";
  static final int SIZE = 5;

  private static final long NS_PER_MS = 1_000_000;
  private static final long MS_PER_S = 1_000;

  private final long windowMs;

  PathKey(long windowMs) {
    this.windowMs = windowMs;
  }

  /** Sets the first {@link #SIZE} fields. */
  void fill(GenericRowData row, PathSummary summary) {
    TraceSpan root = summary.path().root();
    long window = Math.floorDiv(root.endNs() / NS_PER_MS, windowMs) * windowMs;
    row.setField(0, text(root.service()));
    row.setField(1, text(root.operation()));
    row.setField(2, !summary.path().incomplete());
    row.setField(3, window / MS_PER_S);
    row.setField(4, summary.durationNs());
  }
}
