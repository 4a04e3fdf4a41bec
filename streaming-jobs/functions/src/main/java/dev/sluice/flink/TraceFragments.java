package dev.sluice.flink;

import dev.sluice.accounting.MessageReader;
import dev.sluice.traces.FragmentAccumulator;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.TableFunction;

/**
 * SQL {@code trace_fragments(message, record_time, repeated)}: turns one message into a row for
 * each trace in it, and its accounts; a repeated one into accounts only. Of the three columns
 * exactly one is not NULL in each row.
 */
@FunctionHint(
    output =
        @DataTypeHint(
            value =
                "ROW<fragment ROW<trace_id BYTES NOT NULL, spans BYTES NOT NULL,"
                    + " span_count INT NOT NULL>, counted "
                    + Rows.COUNTED
                    + ", rejected "
                    + Rows.REJECTED
                    + ">",
            bridgedTo = RowData.class))
public final class TraceFragments extends TableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  private transient FragmentAccumulator fragments;
  private transient MessageReader reader;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    fragments =
        settings.wantsTraceRows("moved")
            ? new FragmentAccumulator(settings.spread())
            : new FragmentAccumulator();
    reader = new MessageReader(settings.validity(), fragments);
  }

  public void eval(
      byte[] message,
      @DataTypeHint(value = "TIMESTAMP_LTZ(3)", bridgedTo = TimestampData.class)
          TimestampData recordTime,
      boolean repeated) {
    long recordTimeMs = recordTime.getMillisecond();
    reader.read(message, recordTimeMs, repeated);
    fragments.forEach(
        (traceId, fragment) ->
            collect(
                GenericRowData.of(
                    GenericRowData.of(traceId, fragment.encode(recordTimeMs), fragment.size()),
                    null,
                    null)));
    Rows.emitAccounts(reader, recordTimeMs, this::collect);
  }
}
