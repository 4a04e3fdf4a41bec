package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;
import static dev.sluice.flink.Rows.time;

import dev.sluice.bounds.MetricBounds;
import dev.sluice.resources.MetricMessageReader;
import dev.sluice.resources.PoolKey;
import dev.sluice.resources.ResourceKey;
import dev.sluice.resources.ResourceSums;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.TableFunction;

/**
 * SQL {@code resource_points(message, record_time, partition)}: turns one message of metrics into
 * sums by series and window, of hosts and containers and of pools, and its accounts. Of the four
 * columns exactly one is not NULL in each row.
 */
@FunctionHint(
    output =
        @DataTypeHint(
            value =
                "ROW<part ROW<"
                    + Columns.RESOURCE
                    + ">, pool ROW<"
                    + Columns.POOL
                    + ">, counted ROW<"
                    + Columns.COUNTED
                    + ">, rejected "
                    + Rows.REJECTED
                    + ">",
            bridgedTo = RowData.class))
public final class ResourceMetrics extends TableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  private transient MetricMessageReader reader;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    reader =
        new MetricMessageReader(
            settings.validity(),
            settings.sampleWindowMs(),
            new MetricBounds(settings.limits()),
            settings.spanRules()::leavesOut);
  }

  public void eval(
      byte[] message,
      @DataTypeHint(value = "TIMESTAMP_LTZ(3)", bridgedTo = TimestampData.class)
          TimestampData recordTime,
      int partition) {
    long recordTimeMs = recordTime.getMillisecond();
    reader.read(message, partition, recordTimeMs);
    reader.forEach((key, sums) -> collect(GenericRowData.of(row(key, sums), null, null, null)));
    reader.forEachPool((key, sums) -> collect(GenericRowData.of(null, row(key, sums), null, null)));
    Rows.emitAccounts(reader.counts(), reader.deadLetters(), recordTimeMs, this::collect);
  }

  private static GenericRowData row(ResourceKey key, ResourceSums sums) {
    return GenericRowData.of(
        text(key.role().label()),
        text(key.host()),
        text(key.instance()),
        key.rank(),
        text(key.series()),
        text(key.kind().label()),
        key.startNs(),
        time(key.windowMs()),
        sums.points(),
        sums.sum(),
        sums.smallest(),
        sums.largest(),
        sums.firstNs(),
        sums.lastNs());
  }

  private static GenericRowData row(PoolKey key, ResourceSums sums) {
    return GenericRowData.of(
        text(key.service()),
        text(key.instance()),
        text(key.side().label()),
        text(key.pool()),
        text(key.peer()),
        text(key.figure().label()),
        key.rank(),
        text(key.series()),
        text(key.kind().label()),
        key.startNs(),
        time(key.windowMs()),
        sums.points(),
        sums.sum(),
        sums.smallest(),
        sums.largest(),
        sums.firstNs(),
        sums.lastNs());
  }
}
