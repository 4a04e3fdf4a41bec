package dev.sluice.flink;

import java.time.Instant;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/**
 * SQL {@code offset_gaps(TABLE positions PARTITION BY `partition`)}: a row where the offsets of a
 * partition jump. Kafka deleted the records in between before the job read them, and its consumer
 * continued after them without an error.
 *
 * <p>Rows of a partition must come in the order of the topic, from one reader. The first offset of
 * a job is no gap, nor is a step back (reading started over, or the topic was recreated). Markers
 * of transactions have offsets and are not read: a topic with such markers would show gaps of one.
 */
@DataTypeHint(value = "ROW<" + Columns.GAP + ">", bridgedTo = RowData.class)
public final class OffsetGaps extends ProcessTableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  /** Position in a partition. */
  public static class Position {
    /** The next expected offset; null before the first record. */
    public Long next;
  }

  /** No time to live: a job may have stood still for any length of time. */
  public void eval(
      @StateHint(ttl = "0 s") Position position,
      @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input) {
    long offset = input.<Long>getFieldAs("offset");
    if (position.next != null && offset > position.next) {
      Instant received = input.getFieldAs("record_time");
      collect(GenericRowData.of(position.next, offset, TimestampData.fromInstant(received)));
    }
    position.next = offset + 1;
  }
}
