package dev.sluice.flink;

import dev.sluice.paths.PathSummary;
import dev.sluice.paths.ServiceTime;
import dev.sluice.paths.ServiceTotals;
import dev.sluice.traces.Trace;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** The services on critical paths, one row for each kind of request, window and service. */
final class OnPathSums implements TraceSums {
  private static final ServiceTotalsSerializer ENCODED = new ServiceTotalsSerializer();
  static final String TYPE = Columns.PATH_KEY + ", service STRING NOT NULL, totals BYTES NOT NULL";

  private final long windowMs;
  private final PathsOfTrace paths;
  private final Texts texts = new Texts();
  private final Map<PathKey, ServiceTotals> sums = new HashMap<>();

  OnPathSums(Settings settings, PathsOfTrace paths) {
    this.windowMs = settings.pathWindowMs();
    this.paths = paths;
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    for (PathSummary path : paths.of(trace)) {
      for (ServiceTime part : path.services()) {
        sums.computeIfAbsent(
                PathKey.of(path, windowMs, part.service()), absent -> new ServiceTotals())
            .add(part, path.durationNs());
      }
    }
  }

  @Override
  public int rows() {
    return sums.size();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    sums.forEach((key, totals) -> out.accept(key.row(texts, ENCODED.toBytes(totals))));
    sums.clear();
  }
}
