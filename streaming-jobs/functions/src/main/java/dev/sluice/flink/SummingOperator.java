package dev.sluice.flink;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;

/**
 * Sums across what it takes, and gives the sums out every so many milliseconds, when they are many,
 * and before each checkpoint's barrier: so they are no state.
 */
abstract class SummingOperator<T> extends AbstractStreamOperator<T> {
  private static final long serialVersionUID = 1L;

  /** Rows of one table that are held. */
  static final int MOST_ROWS = 20_000;

  private transient long flushMs;

  @Override
  public void open() throws Exception {
    super.open();
    flushMs = Settings.of(getRuntimeContext().getGlobalJobParameters()).partialFlushMs();
    flushLater();
  }

  /** Gives all sums out, and forgets them. */
  abstract void flush();

  /** Called before each flush that the machine's clock begins. */
  void beforeTimedFlush(long nowMs) {}

  /** Gives a row out to whoever reads the table. */
  final void emit(SpanTable table, RowData row) {
    output.collect(table.tag(), new StreamRecord<>(row));
  }

  private void flushLater() {
    long nowMs = getProcessingTimeService().getCurrentProcessingTime();
    getProcessingTimeService()
        .registerTimer(
            nowMs + flushMs,
            ms -> {
              beforeTimedFlush(ms);
              flush();
              flushLater();
            });
  }

  @Override
  public final void prepareSnapshotPreBarrier(long checkpoint) {
    flush();
  }

  @Override
  public final void finish() throws Exception {
    flush();
    super.finish();
  }
}
