package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;
import static dev.sluice.flink.Rows.time;

import dev.sluice.accounting.MessageReader;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.WindowAccumulator;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.TableFunction;

/**
 * SQL {@code span_windows(message, record_time)}: turns one message into partial rows for the fine
 * windows, and its accounts. Of the three columns exactly one is not NULL in each row, so that one
 * decoding feeds three tables.
 */
@FunctionHint(
    output =
        @DataTypeHint(
            value =
                "ROW<partial ROW<side STRING NOT NULL, service STRING NOT NULL,"
                    + " peer STRING NOT NULL, instance STRING NOT NULL,"
                    + " bucket TIMESTAMP_LTZ(3) NOT NULL, busy_ns BIGINT NOT NULL,"
                    + " completions BIGINT NOT NULL, errors BIGINT NOT NULL,"
                    + " latency BYTES NOT NULL, contributions BIGINT NOT NULL>, counted "
                    + Rows.COUNTED
                    + ", rejected "
                    + Rows.REJECTED
                    + ">",
            bridgedTo = RowData.class))
public final class SpanWindows extends TableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  private transient WindowAccumulator windows;
  private transient MessageReader reader;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    windows = new WindowAccumulator(settings.bucketMs(), settings.maxSpreadMs());
    reader = new MessageReader(settings.validity(), windows);
  }

  public void eval(
      byte[] message,
      @DataTypeHint(value = "TIMESTAMP_LTZ(3)", bridgedTo = TimestampData.class)
          TimestampData recordTime) {
    long recordTimeMs = recordTime.getMillisecond();
    reader.read(message, recordTimeMs);
    windows.forEach((point, partial) -> collect(row(point, partial)));
    Rows.emitAccounts(reader, recordTimeMs, this::collect);
  }

  private static RowData row(ResourcePoint point, Partial partial) {
    return GenericRowData.of(
        GenericRowData.of(
            text(point.side()),
            text(point.service()),
            text(point.peer()),
            text(point.instance()),
            time(partial.bucketMs()),
            partial.busyNs(),
            partial.completions(),
            partial.errors(),
            partial.latency().encode(),
            partial.contributions()),
        null,
        null);
  }
}
