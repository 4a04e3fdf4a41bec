package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PatientWriterTest {
  /** A store that is away for some attempts, rejects negative numbers, and takes sums up to 100. */
  private static final class Store implements BatchTarget {
    final List<Integer> stored = new ArrayList<>();
    int away;
    int attempts;

    @Override
    public void write(List<Object[]> rows) throws Exception {
      attempts++;
      if (away > 0) {
        away--;
        throw new IOException("connection refused");
      }
      if (rows.stream().anyMatch(row -> (int) row[0] < 0)) {
        throw new RowsRejectedException("negative", null);
      }
      if (rows.stream().mapToInt(row -> (int) row[0]).sum() > 100) {
        throw new TooLargeException("more than 100", null);
      }
      rows.forEach(row -> stored.add((int) row[0]));
    }

    @Override
    public void close() {}
  }

  private static final class Counts implements PatientWriter.Observer {
    int written;
    int rejected;
    int retried;

    @Override
    public void attempting() {}

    @Override
    public void written(int rows) {
      written += rows;
    }

    @Override
    public void rejected(Exception reason) {
      rejected++;
    }

    @Override
    public void retried(Exception reason) {
      retried++;
    }
  }

  private final Store store = new Store();
  private final Counts counts = new Counts();
  private final List<Long> slept = new ArrayList<>();
  private final PatientWriter writer =
      new PatientWriter(
          store, new Backoff(100, 1_000, new SplittableRandom(1)), slept::add, counts);

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
    assertThat(store.stored).containsExactly(1, 2, 4, 5, 7);
    assertThat(counts.rejected).isEqualTo(2);
    assertThat(counts.written).isEqualTo(5);
    assertThat(slept).isEmpty();
  }

  @Test
  void whatIsTooLargeIsWrittenInParts() throws Exception {
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
    assertThat(store.stored).containsExactly(1);
    assertThat(counts.rejected).isEqualTo(1);
    assertThat(slept).hasSize(4);
  }

  @Test
  void nothingToWriteIsNoRequest() throws Exception {
    writer.write(List.of());
    assertThat(store.attempts).isZero();
  }

  @Test
  void cancellingEndsTheWaiting() {
    store.away = Integer.MAX_VALUE;
    PatientWriter cancelled =
        new PatientWriter(
            store,
            new Backoff(100, 1_000, new SplittableRandom(1)),
            ms -> {
              throw new InterruptedException();
            },
            counts);
    assertThatThrownBy(() -> cancelled.write(rows(1))).isInstanceOf(InterruptedException.class);
  }

  @Test
  void bufferKeepsTheLastRowOfAKey() {
    UpsertBuffer buffer = new UpsertBuffer(new int[] {0, 2});
    buffer.put(new Object[] {"a", 1, "x"});
    buffer.put(new Object[] {"b", 2, "x"});
    buffer.put(new Object[] {"a", 3, "x"});
    assertThat(buffer.rows())
        .containsExactly(new Object[] {"a", 3, "x"}, new Object[] {"b", 2, "x"});
    buffer.clear();
    assertThat(buffer.size()).isZero();
  }
}
