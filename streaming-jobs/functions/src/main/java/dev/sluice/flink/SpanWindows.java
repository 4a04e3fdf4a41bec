package dev.sluice.flink;

import dev.sluice.accounting.MessageReader;
import dev.sluice.windows.WindowAccumulator;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.TableFunction;

/**
 * SQL {@code span_windows(message, record_time, repeated)}: turns one message into partial rows for
 * the fine windows, and its accounts; a repeated one into accounts only. Of the three columns
 * exactly one is not NULL in each row, so that one decoding feeds three tables.
 */
@FunctionHint(
    output =
        @DataTypeHint(
            value =
                "ROW<partial "
                    + Rows.PARTIAL
                    + ", counted "
                    + Rows.COUNTED
                    + ", rejected "
                    + Rows.REJECTED
                    + ">",
            bridgedTo = RowData.class))
public final class SpanWindows extends TableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  private transient Texts texts;
  private transient WindowAccumulator windows;
  private transient MessageReader reader;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    texts = new Texts();
    windows = new WindowAccumulator(settings.spread());
    reader = new MessageReader(settings.validity(), windows);
  }

  public void eval(
      byte[] message,
      @DataTypeHint(value = "TIMESTAMP_LTZ(3)", bridgedTo = TimestampData.class)
          TimestampData recordTime,
      boolean repeated) {
    long recordTimeMs = recordTime.getMillisecond();
    reader.read(message, recordTimeMs, repeated);
    windows.forEach(
        (point, partial) ->
            collect(GenericRowData.of(Rows.partial(texts, point, partial), null, null)));
    Rows.emitAccounts(reader, recordTimeMs, this::collect);
  }
}
