package dev.sluice.sinks;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
  private final String threadName;
  private final RowBuffer buffer;
  private final BatchWriter<BinaryRowData> writer;
  private final FlushPolicy policy;
  private final ProcessingTimeService clock;
  private final MailboxExecutor mailbox;
  private final ExecutorService thread;
  // Keeps a failure, so that every later call meets it.
  private CompletableFuture<Void> inFlight = CompletableFuture.completedFuture(null);
  private boolean timerSet;
  // The rows have waited long enough; they wait only for the batch in flight.
  private boolean due;

  UpsertSinkWriter(
      String store,
      RowBuffer buffer,
      BatchWriter<BinaryRowData> writer,
      FlushPolicy policy,
      ProcessingTimeService clock,
      MailboxExecutor mailbox) {
    this.threadName = "write to " + store;
    this.buffer = buffer;
    this.writer = writer;
    this.policy = policy;
    this.clock = clock;
    this.mailbox = mailbox;
    this.thread = Executors.newSingleThreadExecutor(StoreThreads.named(threadName));
  }

  @Override
  public void write(RowData row, Context context) throws InterruptedException {
    if (row.getRowKind() != RowKind.INSERT && row.getRowKind() != RowKind.UPDATE_AFTER) {
      return;
    }
    buffer.put(row);
    if (buffer.waiting() >= policy.maxRows()) {
      startBatch();
    } else if (!timerSet) {
      timerSet = true;
      clock.registerTimer(clock.getCurrentProcessingTime() + policy.intervalMs(), this::onTimer);
    }
  }

  private void onTimer(long time) throws InterruptedException {
    timerSet = false;
    due = true;
    startIfDue();
  }

  /** Throws the failure of the last batch, if it failed. */
  private void startIfDue() throws InterruptedException {
    if (!inFlight.isDone()) {
      return;
    }
    awaitBatch();
    if (due) {
      startBatch();
    }
  }

  private void startBatch() throws InterruptedException {
    due = false;
    if (buffer.waiting() == 0) {
      return;
    }
    awaitBatch();
    List<BinaryRowData> rows = buffer.take();
    inFlight = CompletableFuture.runAsync(() -> writeBatch(rows), thread);
    inFlight.whenComplete((done, failure) -> reportEnd());
  }

  private void writeBatch(List<BinaryRowData> rows) {
    try {
      writer.write(rows);
    } catch (InterruptedException e) {
      throw new IllegalStateException("the thread that writes rows was ended", e);
    }
    buffer.done();
  }

  /** Returns when no batch is in flight. Throws the failure of the last batch, if it failed. */
  private void awaitBatch() throws InterruptedException {
    try {
      inFlight.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException("the thread that writes rows has died", e.getCause());
    }
  }

  private void reportEnd() {
    try {
      mailbox.execute(this::startIfDue, "the store has a batch of rows");
    } catch (RejectedExecutionException e) {
      // The task has ended.
    }
  }

  @Override
  public void flush(boolean endOfInput) throws InterruptedException {
    startBatch();
    awaitBatch();
  }

  /** Does not wait for the batch in flight: the store may have it or not. */
  @Override
  public void close() {
    StoreThreads.end(thread, threadName);
    writer.close();
  }
}
