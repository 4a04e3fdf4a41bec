package dev.sluice.flink;

import dev.sluice.paths.PathSummary;
import dev.sluice.traces.TraceSpan;
import org.apache.flink.table.data.GenericRowData;

/**
 * The key of paths that are summed together: those of one kind of request that ended in one window,
 * by {@code part}: their signature, or a service on it. A path is incomplete when its root is an
 * orphan; its window is that of its root span's end.
 */
record PathKey(
    String rootService, String rootOperation, boolean complete, long windowMs, String part) {
  static PathKey of(PathSummary summary, long lengthMs, String part) {
    TraceSpan root = summary.path().root();
    return new PathKey(
        root.service(),
        root.operation(),
        !summary.path().incomplete(),
        root.windowMs(lengthMs),
        part);
  }

  GenericRowData row(Texts texts, byte[] totals) {
    return GenericRowData.of(
        texts.of(rootService),
        texts.of(rootOperation),
        complete,
        Rows.seconds(windowMs),
        texts.of(part),
        totals);
  }
}
