package dev.sluice.sinks;

import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** Buffers rows and writes them by the {@link FlushPolicy}, on the task's own thread. */
final class UpsertSinkWriter implements SinkWriter<RowData> {
  private final RowConverter converter;
  private final UpsertBuffer buffer;
  private final PatientWriter writer;
  private final FlushPolicy policy;
  private final ProcessingTimeService clock;
  private boolean timerSet;

  UpsertSinkWriter(
      RowConverter converter,
      UpsertBuffer buffer,
      PatientWriter writer,
      FlushPolicy policy,
      ProcessingTimeService clock) {
    this.converter = converter;
    this.buffer = buffer;
    this.writer = writer;
    this.policy = policy;
    this.clock = clock;
  }

  @Override
  public void write(RowData row, Context context) throws InterruptedException {
    if (row.getRowKind() != RowKind.INSERT && row.getRowKind() != RowKind.UPDATE_AFTER) {
      return;
    }
    buffer.put(converter.convert(row));
    if (buffer.size() >= policy.maxRows()) {
      flush(false);
    } else if (!timerSet) {
      timerSet = true;
      clock.registerTimer(clock.getCurrentProcessingTime() + policy.intervalMs(), this::onTimer);
    }
  }

  private void onTimer(long time) throws InterruptedException {
    timerSet = false;
    flush(false);
  }

  @Override
  public void flush(boolean endOfInput) throws InterruptedException {
    writer.write(buffer.rows());
    buffer.clear();
  }

  @Override
  public void close() {
    writer.close();
  }
}
