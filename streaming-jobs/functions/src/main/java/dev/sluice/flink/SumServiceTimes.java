package dev.sluice.flink;

import static dev.sluice.flink.Rows.squares;

import dev.sluice.paths.ServiceTotals;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.AggregateFunction;

/**
 * SQL {@code sum_service_times(totals)}: the sum of totals of a service's parts in critical paths,
 * as one row.
 */
@FunctionHint(
    input = @DataTypeHint("BYTES"),
    accumulator =
        @DataTypeHint(
            value = "RAW",
            bridgedTo = ServiceTotals.class,
            rawSerializer = ServiceTotalsSerializer.class),
    output = @DataTypeHint(value = "ROW<" + Columns.SERVICE_SUMS + ">", bridgedTo = RowData.class))
public final class SumServiceTimes extends AggregateFunction<RowData, ServiceTotals> {
  private static final long serialVersionUID = 1L;
  private static final ServiceTotalsSerializer ENCODED = new ServiceTotalsSerializer();

  @Override
  public ServiceTotals createAccumulator() {
    return new ServiceTotals();
  }

  public void accumulate(ServiceTotals totals, byte[] part) {
    if (part != null) {
      totals.add(ENCODED.ofBytes(part));
    }
  }

  /** Lets Flink sum before and after the shuffle. */
  public void merge(ServiceTotals totals, Iterable<ServiceTotals> parts) {
    for (ServiceTotals part : parts) {
      totals.add(part);
    }
  }

  @Override
  public RowData getValue(ServiceTotals totals) {
    return GenericRowData.of(
        totals.traces(),
        totals.self().sumNs(),
        squares(totals.self().squares()),
        totals.endToEnd().sumNs(),
        squares(totals.endToEnd().squares()),
        squares(totals.selfByEndToEnd()),
        totals.upstream().sumNs(),
        squares(totals.upstream().squares()),
        totals.callUpstream().sumNs(),
        totals.waited().sumNs(),
        totals.blame().sumNs(),
        squares(totals.blame().squares()),
        squares(totals.blameByEndToEnd()),
        totals.selfLatency().toMapData(),
        totals.upstreamLatency().toMapData(),
        totals.callUpstreamLatency().toMapData(),
        totals.blameLatency().toMapData());
  }
}
