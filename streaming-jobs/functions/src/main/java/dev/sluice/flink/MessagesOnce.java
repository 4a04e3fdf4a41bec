package dev.sluice.flink;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/**
 * SQL {@code messages_once(TABLE messages PARTITION BY message_hash, DESCRIPTOR(record_time))}:
 * passes every message on, and says whether its bytes came before: a collector that retries sends a
 * whole request again, to any partition.
 *
 * <p>A message is a repeat when its record time is less than the repeat window from the first one
 * that was read. Decided by record times alone, so that how fast a topic is read again does not
 * matter; the timer only frees the state.
 */
@DataTypeHint(value = MessagesOnce.TYPE, bridgedTo = RowData.class)
public final class MessagesOnce extends ProcessTableFunction<RowData> {
  private static final long serialVersionUID = 1L;

  static final String TYPE =
      "ROW<message BYTES, `partition` INT NOT NULL, `offset` BIGINT NOT NULL,"
          + " repeated BOOLEAN NOT NULL>";

  /** What is known of the messages of one hash. */
  public static class Seen {
    /** Record time of the first; null before there is one. */
    public Long firstMs;
  }

  private transient long windowMs;

  @Override
  public void open(FunctionContext context) {
    windowMs = Settings.of(context).repeatWindowMs();
  }

  /** Passes a message on; the first of its window sets the timer. */
  public void eval(
      Context context,
      @StateHint Seen seen,
      @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input) {
    TimeContext<Long> time = context.timeContext(Long.class);
    long recordMs = time.time();
    boolean repeated = seen.firstMs != null && Math.abs(recordMs - seen.firstMs) < windowMs;
    if (!repeated) {
      seen.firstMs = recordMs;
      // Without a name, which would be kept as well: this is done for every message.
      time.registerOnTime(recordMs + windowMs);
    }
    collect(
        GenericRowData.of(
            input.getField("message"),
            input.getField("partition"),
            input.getField("offset"),
            repeated));
  }

  /** Forgets the message, unless a later one began another window meanwhile. */
  public void onTimer(OnTimerContext context, Seen seen) {
    long nowMs = context.timeContext(Long.class).time();
    if (seen.firstMs != null && seen.firstMs + windowMs <= nowMs) {
      context.clearAllState();
    }
  }
}
