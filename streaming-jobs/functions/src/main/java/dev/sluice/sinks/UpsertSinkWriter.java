package dev.sluice.sinks;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.types.RowKind;

/**
 * Buffers rows and writes them by the {@link FlushPolicy}: one batch is in flight while the next
 * fills, and only a full one waits for it.
 */
final class UpsertSinkWriter implements SinkWriter<RowData> {
  private final RowBuffer buffer;
  private final QuickWriter writer;
  private final FlushPolicy policy;
  private final ProcessingTimeService clock;
  private final MailboxExecutor mailbox;
  private final OneInFlight<List<BinaryRowData>> flight;
  private volatile int inFlight;
  private boolean timerSet;
  // The rows have waited long enough; they wait only for the batch in flight.
  private boolean due;

  UpsertSinkWriter(
      String store,
      RowBuffer buffer,
      QuickWriter writer,
      FlushPolicy policy,
      ProcessingTimeService clock,
      MailboxExecutor mailbox) {
    this.buffer = buffer;
    this.writer = writer;
    this.policy = policy;
    this.clock = clock;
    this.mailbox = mailbox;
    this.flight = new OneInFlight<>("write to " + store, this::writeNow, this::tellLanded);
  }

  /** Number of rows that are not written; for any thread. */
  long pending() {
    return (long) buffer.size() + inFlight;
  }

  @Override
  public void write(RowData row, Context context) throws InterruptedException {
    if (row.getRowKind() != RowKind.INSERT && row.getRowKind() != RowKind.UPDATE_AFTER) {
      return;
    }
    buffer.put(row);
    if (buffer.size() >= policy.maxRows()) {
      handOver();
    } else if (!timerSet) {
      timerSet = true;
      clock.registerTimer(clock.getCurrentProcessingTime() + policy.intervalMs(), this::onTimer);
    }
  }

  private void onTimer(long time) throws InterruptedException {
    timerSet = false;
    due = true;
    goOn();
  }

  /** Throws the failure of a batch, if one failed. */
  private void goOn() throws InterruptedException {
    if (flight.isFree() && due) {
      handOver();
    }
  }

  private void handOver() throws InterruptedException {
    due = false;
    if (buffer.size() == 0) {
      return;
    }
    flight.await();
    List<BinaryRowData> rows = buffer.take();
    inFlight = rows.size();
    flight.start(rows);
  }

  private void writeNow(List<BinaryRowData> rows) throws InterruptedException {
    writer.write(rows);
    inFlight = 0;
  }

  private void tellLanded() {
    try {
      mailbox.execute(this::goOn, "a batch of rows has landed");
    } catch (RejectedExecutionException e) {
      // The task has ended.
    }
  }

  @Override
  public void flush(boolean endOfInput) throws InterruptedException {
    handOver();
    flight.await();
  }

  @Override
  public void close() {
    flight.close();
    writer.close();
  }
}
