package dev.sluice.flink;

import static dev.sluice.flink.Rows.squares;
import static dev.sluice.flink.Rows.text;

import dev.sluice.paths.PathTotals;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.AggregateFunction;

/** SQL {@code sum_paths(totals)}: the sum of totals of critical paths, as one row. */
@FunctionHint(
    input = @DataTypeHint("BYTES"),
    accumulator =
        @DataTypeHint(
            value = "RAW",
            bridgedTo = PathTotals.class,
            rawSerializer = PathTotalsSerializer.class),
    output = @DataTypeHint(value = "ROW<" + Columns.PATH_SUMS + ">", bridgedTo = RowData.class))
public final class SumPaths extends AggregateFunction<RowData, PathTotals> {
  private static final long serialVersionUID = 1L;
  private static final PathTotalsSerializer ENCODED = new PathTotalsSerializer();

  @Override
  public PathTotals createAccumulator() {
    return new PathTotals();
  }

  public void accumulate(PathTotals totals, byte[] part) {
    if (part != null) {
      totals.add(ENCODED.ofBytes(part));
    }
  }

  /** Lets Flink sum before and after the shuffle. */
  public void merge(PathTotals totals, Iterable<PathTotals> parts) {
    for (PathTotals part : parts) {
      totals.add(part);
    }
  }

  @Override
  public RowData getValue(PathTotals totals) {
    return GenericRowData.of(
        totals.traces(),
        totals.endToEnd().sumNs(),
        squares(totals.endToEnd().squares()),
        totals.latency().toMapData(),
        totals.slowestNs(),
        text(totals.slowestTraceId()),
        text(totals.medianTraceId()));
  }
}
