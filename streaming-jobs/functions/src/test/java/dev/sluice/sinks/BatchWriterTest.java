package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchWriterTest {
  /** A store that is away for some attempts, rejects negative numbers, and takes sums up to 100. */
  private static final class Store implements BatchTarget<Object[]> {
    final List<Integer> stored = new ArrayList<>();
    int away;
    int attempts;
    boolean altered;
    BooleanSupplier alteredNow = () -> false;
    int shortOfMemory;

    @Override
    public void write(List<Object[]> rows) throws Exception {
      attempts++;
      if (away > 0) {
        away--;
        throw new IOException("connection refused");
      }
      if (altered || alteredNow.getAsBoolean() || rows.stream().anyMatch(row -> (int) row[0] < 0)) {
        throw new RowsRejectedException("negative", null);
      }
      if (shortOfMemory > 0) {
        shortOfMemory--;
        throw new TooLargeException("memory limit", null);
      }
      if (rows.stream().mapToInt(row -> (int) row[0]).sum() > 100) {
        throw new TooLargeException("more than 100", null);
      }
      rows.forEach(row -> stored.add((int) row[0]));
    }

    @Override
    public void close() {}
  }

  /** Keeps what was set aside, as value and reason; is away for some attempts. */
  private static final class Aside implements Rejects {
    final List<String> rows = new ArrayList<>();
    int away;

    @Override
    public void setAside(List<Rejected> rejected) throws Exception {
      if (away > 0) {
        away--;
        throw new IOException("no leader");
      }
      rejected.forEach(row -> rows.add(row.row()[0] + " " + row.reason()));
    }

    @Override
    public void close() {}
  }

  private final Store store = new Store();
  private final Counts counts = new Counts();
  private final List<Long> slept = new ArrayList<>();
  private final Aside aside = new Aside();
  private final BatchWriter<Object[]> writer =
      new BatchWriter<>(
          store,
          row -> row,
          new Backoff(100, 1_000, new SplittableRandom(1)),
          slept::add,
          counts,
          aside);

  private static List<Object[]> rows(int... values) {
    return IntStream.of(values).mapToObj(value -> new Object[] {value}).toList();
  }

  @Test
  void outageIsWaitedForWithGrowingDelays() throws Exception {
    store.away = 6;
    writer.write(rows(1, 2, 3));
    assertThat(store.stored).containsExactly(1, 2, 3);
    assertThat(counts.retried).isEqualTo(6);
    assertThat(counts.written).isEqualTo(3);
    assertThat(slept).hasSize(6);
    long[] ceilings = {100, 200, 400, 800, 1_000, 1_000};
    for (int i = 0; i < ceilings.length; i++) {
      assertThat(slept.get(i)).isBetween(ceilings[i] / 2, ceilings[i]);
    }
  }

  @Test
  void successStartsTheDelaysAnew() throws Exception {
    store.away = 4;
    writer.write(rows(1));
    store.away = 1;
    writer.write(rows(2));
    assertThat(slept.get(4)).isBetween(50L, 100L);
  }

  @Test
  void onlyTheRowsAtFaultAreGivenUp() throws Exception {
    writer.write(rows(1, 2, -3, 4, 5, -6, 7));
    assertThat(store.stored).containsOnly(1, 2, 4, 5, 7);
    assertThat(counts.rejected).isEqualTo(2);
    assertThat(aside.rows).containsExactlyInAnyOrder("-3 refused", "-6 refused");
    assertThat(counts.written).isEqualTo(5);
    assertThat(slept).isEmpty();
  }

  @Test
  void aBatchThatIsTooLargeIsWrittenInParts() throws Exception {
    writer.write(rows(60, 50, 40, 30, 20, 10));
    // 210 is halved: 150 to 60 and 90, and 60.
    assertThat(store.stored).containsExactly(60, 50, 40, 30, 20, 10);
    assertThat(store.attempts).isEqualTo(5);
    assertThat(counts.rejected).isZero();
    assertThat(slept).isEmpty();
  }

  @Test
  void aRowThatIsTooLargeByItselfIsTriedAgainBeforeItIsGivenUp() throws Exception {
    writer.write(rows(1, 101));
    assertThat(store.stored).containsOnly(1);
    assertThat(counts.rejected).isEqualTo(1);
    assertThat(aside.rows).containsExactly("101 too_large");
    // Five attempts, and five more after the rest of the batch.
    assertThat(slept).hasSize(8);
  }

  @Test
  void aRowThatComesAloneIsGivenUpIfTheStoreTakesAnother() throws Exception {
    writer.write(rows(1, 2));
    writer.write(rows(-3));
    assertThat(store.stored).startsWith(1, 2).containsOnly(1, 2);
    assertThat(aside.rows).containsExactly("-3 refused");
  }

  @Test
  void aStoreThatRefusesWhatItTookBeforeFailsTheJobAtOnce() throws Exception {
    writer.write(rows(1, 2));
    store.altered = true;
    store.attempts = 0;
    int[] many = IntStream.rangeClosed(1, 1024).toArray();
    assertThatThrownBy(() -> writer.write(rows(many)))
        .isInstanceOf(TableAtFaultException.class)
        .hasMessageContaining("negative");
    // The batch, its ten halvings, and the row that was taken before.
    assertThat(store.attempts).isEqualTo(12);
    assertThat(aside.rows).isEmpty();
    store.altered = false;
    writer.write(rows(3));
    assertThat(store.stored).containsExactly(1, 2, 3);
  }

  @Test
  void aStoreThatHasTakenNothingYetFailsTheJobAfterSomeRowsFromAllOverTheBatch() {
    store.altered = true;
    assertThatThrownBy(() -> writer.write(rows(IntStream.range(0, 1024).toArray())))
        .isInstanceOf(TableAtFaultException.class)
        .hasMessageContaining("each of 32 rows");
    assertThat(store.attempts).isLessThan(100);
    assertThatThrownBy(() -> writer.write(rows(5))).isInstanceOf(TableAtFaultException.class);
    assertThat(aside.rows).isEmpty();
  }

  @Test
  void aStoreThatMustHoldNothingUpIsGivenUpAfterTenAttempts() throws Exception {
    store.altered = true;
    writer.writeOrGiveUp(rows(1, 2));
    assertThat(slept).hasSize(9);
    assertThat(aside.rows).containsExactly("1 refused", "2 refused");
    store.altered = false;
    writer.writeOrGiveUp(rows(3));
    assertThat(store.stored).containsExactly(3);
  }

  @Test
  void rowsThatWereRefusedUntilTheTableWasPutRightAreWritten() throws Exception {
    writer.write(rows(1));
    for (int refusals = 1; refusals <= 5; refusals++) {
      int since = store.attempts;
      int until = refusals;
      store.alteredNow = () -> store.attempts - since <= until;
      try {
        writer.write(rows(2, 3, 4));
      } catch (TableAtFaultException e) {
        writer.write(rows(2, 3, 4)); // as the job does that starts again
      }
    }
    assertThat(aside.rows).isEmpty();
    assertThat(store.stored).contains(2, 3, 4);
  }

  @Test
  void rowsThatAreRefusedAfterTheTableWasAlteredAreNotSetAside() throws Exception {
    writer.write(rows(1));
    int since = store.attempts;
    for (int answers = 1; answers <= 7; answers++) {
      int from = answers;
      store.attempts = since;
      store.alteredNow = () -> store.attempts - since > from;
      assertThatThrownBy(() -> writer.write(rows(2, 3, -4, 5, 6)))
          .as("altered after %d", from)
          .isInstanceOf(TableAtFaultException.class);
    }
    assertThat(aside.rows).isEmpty();
  }

  @Test
  void manyBadRowsInARowAreNotTakenForABadTable() throws Exception {
    int[] values = IntStream.range(0, 1024).map(i -> i < 900 ? -1 - i : 0).toArray();
    writer.write(rows(values));
    assertThat(store.stored).hasSizeGreaterThanOrEqualTo(124).containsOnly(0);
    assertThat(aside.rows).hasSize(900);
  }

  @Test
  void rowsAreSetAsideBeforeTheWriterReturns() throws Exception {
    aside.away = 3;
    writer.write(rows(1, -2));
    assertThat(slept).hasSize(3);
    assertThat(aside.rows).containsExactly("-2 refused");
  }

  @Test
  void aStoreThatIsShortOfMemoryIsWaitedForEvenWithOneRow() throws Exception {
    writer.write(rows(1));
    store.shortOfMemory = 20;
    writer.write(rows(2));
    assertThat(store.stored).endsWith(2);
    assertThat(aside.rows).isEmpty();
  }

  @Test
  void nothingToWriteIsNoRequest() throws Exception {
    writer.write(List.of());
    assertThat(store.attempts).isZero();
  }

  @Test
  void cancellingEndsTheWaiting() {
    store.away = Integer.MAX_VALUE;
    BatchWriter<Object[]> cancelled =
        new BatchWriter<>(
            store,
            row -> row,
            new Backoff(100, 1_000, new SplittableRandom(1)),
            ms -> {
              throw new InterruptedException();
            },
            counts,
            aside);
    assertThatThrownBy(() -> cancelled.write(rows(1))).isInstanceOf(InterruptedException.class);
  }
}
