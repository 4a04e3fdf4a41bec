package dev.sluice.flink;

import dev.sluice.bounds.Rest;
import dev.sluice.bounds.Variants;
import dev.sluice.paths.PathSummary;
import dev.sluice.paths.PathTotals;
import dev.sluice.traces.Trace;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/**
 * The critical paths of closed traces, one row for each root operation, window and signature. The
 * first signatures of a root operation in a window count separately, up to a limit; the others
 * count together.
 */
final class PathSums implements TraceSums {
  private static final PathTotalsSerializer ENCODED = new PathTotalsSerializer();
  static final String TYPE =
      Columns.PATH_KEY + ", signature STRING NOT NULL, totals BYTES NOT NULL";

  private final long windowMs;
  private final PathsOfTrace paths;
  private final Variants variants;
  private final Texts texts = new Texts();
  private final Map<PathKey, PathTotals> sums = new HashMap<>();

  PathSums(Settings settings, PathsOfTrace paths, Variants variants) {
    this.windowMs = settings.pathWindowMs();
    this.paths = paths;
    this.variants = variants;
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    for (PathSummary path : paths.of(trace)) {
      PathKey key = PathKey.of(path, windowMs, path.signature());
      Variants.Root root =
          new Variants.Root(key.rootService(), key.rootOperation(), key.windowMs());
      if (!variants.isSeparate(root, key.part())) {
        key = PathKey.of(path, windowMs, Rest.NAME);
      }
      sums.computeIfAbsent(key, absent -> new PathTotals()).add(path.durationNs(), traceId);
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
