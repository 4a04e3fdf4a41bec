package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No target, whatever it does, stops who writes, snapshots or closes. */
@Timeout(60)
class WriteBehindWriterTest {
  private static final List<String> COLUMNS = List.of("name", "window");
  private static final RowType TYPE =
      RowType.of(
          new LogicalType[] {new VarCharType(VarCharType.MAX_LENGTH), new BigIntType()},
          new String[] {"name", "window"});
  // Nothing is gathered: who has to wait waits for the store.
  private static final FlushPolicy AT_ONCE = new FlushPolicy(2, 0);

  private final List<String> written = Collections.synchronizedList(new ArrayList<>());
  private final List<WriteBehindWriter> open = new ArrayList<>();
  private final List<String> closed = new ArrayList<>();

  private WriteBehindWriter writer(BackgroundWriter.Batches batches) {
    return writer(batches, AT_ONCE);
  }

  private WriteBehindWriter writer(BackgroundWriter.Batches batches, FlushPolicy policy) {
    return writer(batches, policy, System::currentTimeMillis);
  }

  private WriteBehindWriter writer(
      BackgroundWriter.Batches batches, FlushPolicy policy, LongSupplier clock) {
    PendingRows pending = new PendingRows(new int[] {0}, 1, new BufferBounds(5_000, 1 << 30));
    BackgroundWriter background = new BackgroundWriter("test", pending, batches, policy, clock);
    AutoCloseable last = () -> closed.add("last");
    WriteBehindWriter writer =
        new WriteBehindWriter(
            COLUMNS, new RowConverter(TYPE), background, List.of(() -> closed.add("first"), last));
    open.add(writer);
    return writer;
  }

  @AfterEach
  void close() throws Exception {
    for (WriteBehindWriter writer : open) {
      writer.close();
    }
  }

  @Test
  void aRowWaitsNoLongerBecauseTheClockIsSetBack() throws Exception {
    AtomicLong clock = new AtomicLong(7_200_000);
    WriteBehindWriter writer = writer(this::store, new FlushPolicy(10, 50), clock::get);
    writer.write(row(RowKind.INSERT, "a", 1), null);
    clock.set(3_600_000);
    writer.flush(true); // up to half a minute
    assertThat(written).containsExactly("a1");
  }

  private static RowData row(RowKind kind, String name, long window) {
    return GenericRowData.ofKind(kind, StringData.fromString(name), window);
  }

  private void store(List<Object[]> rows) {
    rows.forEach(row -> written.add(row[0] + "" + row[1]));
  }

  private static void forEver(List<Object[]> rows) throws InterruptedException {
    new CountDownLatch(1).await();
  }

  /** A client that swallows interrupts and goes on waiting. */
  private static void forEverDeaf(List<Object[]> rows) {
    while (true) {
      try {
        Thread.sleep(Long.MAX_VALUE);
      } catch (InterruptedException e) {
        // deaf
      }
    }
  }

  private static List<String> names(List<WaitingRows> parts) {
    return parts.stream()
        .flatMap(part -> part.rows().stream())
        .map(row -> row[0] + "" + row[1])
        .toList();
  }

  @Test
  void rowsAreWrittenAndThenNotPartOfTheState() throws Exception {
    WriteBehindWriter writer = writer(this::store);
    writer.write(row(RowKind.INSERT, "a", 10), null);
    writer.write(row(RowKind.UPDATE_BEFORE, "b", 10), null);
    writer.write(row(RowKind.UPDATE_AFTER, "b", 20), null);
    writer.write(row(RowKind.DELETE, "c", 20), null);
    writer.flush(true);
    assertThat(written).containsExactlyInAnyOrder("a10", "b20");
    assertThat(writer.snapshotState(1)).isEmpty();
  }

  @Test
  void fewRowsAreWrittenWithoutMore() throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    WriteBehindWriter writer =
        writer(
            rows -> {
              store(rows);
              done.countDown();
            },
            new FlushPolicy(1_000, 10));
    writer.write(row(RowKind.INSERT, "a", 10), null);
    assertThat(done.await(50, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aTargetThatNeverAnswersStopsNobody() throws Exception {
    for (BackgroundWriter.Batches stuck :
        List.<BackgroundWriter.Batches>of(
            WriteBehindWriterTest::forEver, WriteBehindWriterTest::forEverDeaf)) {
      WriteBehindWriter writer = writer(stuck);
      for (int n = 0; n < 3_000; n++) {
        writer.write(row(RowKind.INSERT, "a" + n, 10), null);
        writer.flush(false);
      }
      List<WaitingRows> state = writer.snapshotState(1);
      assertThat(state).hasSize(3);
      assertThat(names(state)).hasSize(3_000).contains("a010", "a299910");
      closed.clear();
      writer.close();
      assertThat(closed).containsExactly("first", "last");
    }
  }

  @Test
  void rowsThatWaitedAreRestoredAndWritten() throws Exception {
    WriteBehindWriter stuck = writer(WriteBehindWriterTest::forEver);
    stuck.write(row(RowKind.INSERT, "a", 10), null);
    stuck.write(row(RowKind.INSERT, "b", 10), null);
    stuck.write(row(RowKind.INSERT, "b", 20), null);
    WaitingRowsSerializer serializer = new WaitingRowsSerializer();
    List<byte[]> checkpoint = new ArrayList<>();
    for (WaitingRows part : stuck.snapshotState(1)) {
      checkpoint.add(serializer.serialize(part));
    }

    CountDownLatch restored = new CountDownLatch(1);
    WriteBehindWriter after =
        writer(
            rows -> {
              restored.await();
              store(rows);
            });
    for (byte[] part : checkpoint) {
      after.restore(serializer.deserialize(1, part));
    }
    after.restore(new WaitingRows(List.of("of", "another"), List.<Object[]>of(new Object[2])));
    after.write(row(RowKind.INSERT, "c", 30), null);
    restored.countDown();
    after.flush(true);
    assertThat(written).contains("a10", "b20", "c30");
  }

  @Test
  void aThreadThatDiesFailsTheTask() throws Exception {
    WriteBehindWriter writer =
        writer(
            rows -> {
              throw new StackOverflowError();
            });
    assertThatThrownBy(
            () -> {
              while (true) {
                writer.write(row(RowKind.INSERT, "a", 10), null);
              }
            })
        .hasMessage("the thread that writes rows has died")
        .hasCauseInstanceOf(StackOverflowError.class);
  }
}
