package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.stream.LongStream;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UpsertSinkWriterTest {
  private static final RowType TYPE =
      (RowType)
          DataTypes.ROW(DataTypes.FIELD("value", DataTypes.BIGINT().notNull())).getLogicalType();
  private static final int FULL = 10;

  /** Takes a batch for each permit, and refuses negative numbers. */
  private static final class Store implements BatchTarget<BinaryRowData> {
    final List<Long> stored = Collections.synchronizedList(new ArrayList<>());
    final Semaphore permits = new Semaphore(0);
    volatile boolean atFault;

    @Override
    public void write(List<BinaryRowData> rows) throws Exception {
      permits.acquire();
      if (atFault) {
        throw new TableAtFaultException("no such column", null);
      }
      if (rows.stream().anyMatch(row -> row.getLong(0) < 0)) {
        throw new RowsRejectedException("negative", null);
      }
      rows.forEach(row -> stored.add(row.getLong(0)));
    }

    @Override
    public void close() {}
  }

  private static final class Mails implements MailboxExecutor {
    final LinkedBlockingQueue<ThrowingRunnable<? extends Exception>> mails =
        new LinkedBlockingQueue<>();

    @Override
    public void execute(
        MailOptions options,
        ThrowingRunnable<? extends Exception> command,
        String description,
        Object... arguments) {
      mails.add(command);
    }

    @Override
    public void yield() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryYield() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean shouldInterrupt() {
      return false;
    }
  }

  private static final class Timers implements ProcessingTimeService {
    final List<ProcessingTimeCallback> waiting = new ArrayList<>();

    @Override
    public long getCurrentProcessingTime() {
      return 0;
    }

    @Override
    public ScheduledFuture<?> registerTimer(long time, ProcessingTimeCallback callback) {
      waiting.add(callback);
      return null;
    }

    void fire() throws Exception {
      List<ProcessingTimeCallback> now = new ArrayList<>(waiting);
      waiting.clear();
      for (ProcessingTimeCallback timer : now) {
        timer.onProcessingTime(0);
      }
    }
  }

  private final Store store = new Store();
  private final Mails mailbox = new Mails();
  private final Timers timers = new Timers();
  private final RowBuffer buffer = new RowBuffer(TYPE, new int[] {0});
  private final List<Object> aside = Collections.synchronizedList(new ArrayList<>());
  private final UpsertSinkWriter writer = writer();

  private UpsertSinkWriter writer() {
    Rejects rejects =
        new Rejects() {
          @Override
          public void setAside(List<Rejected> rows) {
            rows.forEach(row -> aside.add(row.row()[0]));
          }

          @Override
          public void close() {}
        };
    RowConverter converter = new RowConverter(TYPE);
    Backoff backoff = new Backoff(1, 2, new SplittableRandom(1));
    BatchWriter<BinaryRowData> batches =
        new BatchWriter<>(store, converter::convert, backoff, Thread::sleep, new Counts(), rejects);
    return new UpsertSinkWriter(
        "test", buffer, batches, new FlushPolicy(FULL, 100), timers, mailbox);
  }

  @AfterEach
  void close() {
    writer.close();
  }

  private void write(long from, long until) throws Exception {
    for (long value = from; value < until; value++) {
      writer.write(GenericRowData.of(value), null);
    }
  }

  private static List<Long> upTo(long until) {
    return LongStream.range(0, until).boxed().toList();
  }

  @Test
  void aCheckpointWaitsForTheBatchInFlightAndTheRowsBehindIt() throws Exception {
    write(0, FULL); // in flight
    write(FULL, FULL + 3); // waits
    assertThat(store.stored).isEmpty();
    assertThat(buffer.rows()).isEqualTo(FULL + 3);
    store.permits.release(2);
    writer.flush(false);
    assertThat(store.stored).containsExactlyElementsOf(upTo(FULL + 3));
    assertThat(buffer.rows()).isZero();
    writer.flush(true); // nothing to write
    assertThat(store.stored).hasSize(FULL + 3);
  }

  @Test
  void rowsThatAreDueWaitForTheBatchInFlightButTheTaskDoesNot() throws Exception {
    write(0, FULL);
    write(FULL, FULL + 1);
    timers.fire();
    assertThat(buffer.rows()).isEqualTo(FULL + 1);
    store.permits.release(1);
    mailbox.mails.take().run(); // the first has landed: the second starts
    store.permits.release(1);
    mailbox.mails.take().run();
    assertThat(store.stored).containsExactlyElementsOf(upTo(FULL + 1));
  }

  @Test
  void aTableAtFaultFailsTheTaskAtOnceAndEveryCheckpoint() throws Exception {
    store.atFault = true;
    store.permits.release(10);
    write(0, FULL);
    ThrowingRunnable<? extends Exception> landed = mailbox.mails.take();
    assertThatThrownBy(landed::run).isInstanceOf(TableAtFaultException.class);
    assertThatThrownBy(() -> writer.flush(false)).isInstanceOf(TableAtFaultException.class);
  }

  @Test
  void aFullBatchWaitsForTheBatchInFlight() throws Exception {
    write(0, FULL);
    store.permits.release(1);
    write(FULL, 2 * FULL);
    assertThat(store.stored).containsExactlyElementsOf(upTo(FULL));
    store.permits.release(1);
    writer.flush(false);
    assertThat(store.stored).containsExactlyElementsOf(upTo(2 * FULL));
  }

  @Test
  void aCheckpointWaitsForTheLetterOfARefusedRowAndItsNeighboursAreStored() throws Exception {
    store.permits.release(100);
    write(-1, 3);
    writer.flush(false);
    assertThat(store.stored).contains(0L, 1L, 2L).doesNotContain(-1L);
    assertThat(aside).containsExactly(-1L);
  }

  @Test
  void afterAFailureNoBatchStarts() throws Exception {
    store.atFault = true;
    store.permits.release(1);
    write(0, FULL);
    assertThatThrownBy(() -> write(FULL, 2 * FULL)).isInstanceOf(TableAtFaultException.class);
  }

  @Test
  void closingDoesNotWaitForTheBatchInFlight() throws Exception {
    write(0, FULL);
    writer.close();
    assertThat(store.stored).isEmpty();
    assertThatThrownBy(() -> writer.flush(false)).hasMessageContaining("ended");
  }
}
