package dev.sluice.flink;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;

/**
 * Sums across its input, and emits the sums at a fixed interval, when they have many rows, and
 * before each checkpoint's barrier: so they are not state.
 */
abstract class SummingOperator<T> extends AbstractStreamOperator<T> {
  private static final long serialVersionUID = 1L;

  /** Rows of one table that are held at most. */
  static final int MOST_ROWS = 20_000;

  private transient long flushMs;

  @Override
  public void open() throws Exception {
    super.open();
    flushMs = Settings.of(getRuntimeContext().getGlobalJobParameters()).partialFlushMs();
    flushLater();
  }

  /** Emits all sums, and clears them. */
  abstract void flush();

  /** Called before each flush that the machine's clock begins. */
  void beforeTimedFlush(long nowMs) {}

  /** Emits a row to the readers of the table. */
  final void emit(SpanView table, RowData row) {
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
