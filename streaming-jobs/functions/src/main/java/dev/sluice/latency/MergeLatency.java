package dev.sluice.latency;

import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.functions.AggregateFunction;

/**
 * SQL {@code merge_latency(BYTES)}: the sum of encoded histograms, as a map of index to count.
 *
 * <p>Negative counts are left out; a sum has them for a moment when a part that takes back comes
 * before the one that it takes back.
 */
@FunctionHint(
    input = @DataTypeHint("BYTES"),
    accumulator =
        @DataTypeHint(
            value = "RAW",
            bridgedTo = LatencyHistogram.class,
            rawSerializer = LatencyHistogramSerializer.class),
    output = @DataTypeHint(value = "MAP<SMALLINT, INT>", bridgedTo = MapData.class))
public final class MergeLatency extends AggregateFunction<MapData, LatencyHistogram> {
  private static final long serialVersionUID = 1L;

  @Override
  public LatencyHistogram createAccumulator() {
    return new LatencyHistogram();
  }

  public void accumulate(LatencyHistogram sum, byte[] encoded) {
    if (encoded != null) {
      sum.merge(encoded);
    }
  }

  /** Lets Flink sum before and after the shuffle. */
  public void merge(LatencyHistogram sum, Iterable<LatencyHistogram> parts) {
    for (LatencyHistogram part : parts) {
      sum.merge(part);
    }
  }

  @Override
  public MapData getValue(LatencyHistogram sum) {
    return sum.toMapData();
  }
}
