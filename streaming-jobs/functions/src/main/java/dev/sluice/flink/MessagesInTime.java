package dev.sluice.flink;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/**
 * SQL {@code messages_in_time(TABLE messages, DESCRIPTOR(record_time))}: passes every message on,
 * as {@link MessagesOnce} does, but does not look for repeats, and so needs no shuffle.
 *
 * <p>It is there because it asks for watermarks: where nothing below a view that several statements
 * share does, Flink's mini-batches replace them by the clock of the machine.
 */
@DataTypeHint(value = MessagesOnce.TYPE, bridgedTo = RowData.class)
public final class MessagesInTime extends ProcessTableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) Row input) {
    collect(
        GenericRowData.of(
            input.getField("message"),
            input.getField("partition"),
            input.getField("offset"),
            false));
  }
}
