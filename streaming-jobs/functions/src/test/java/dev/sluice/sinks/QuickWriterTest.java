package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

class QuickWriterTest {
  private static final RowType TYPE =
      (RowType)
          DataTypes.ROW(DataTypes.FIELD("value", DataTypes.BIGINT().notNull())).getLogicalType();

  /** Refuses negative numbers; fails as it is told, whichever way is tried first. */
  private static final class Store implements DirectTarget {
    final List<String> stored = new ArrayList<>();
    final Deque<Exception> failures = new ArrayDeque<>();
    boolean altered;

    private void check(List<Long> values) throws Exception {
      if (!failures.isEmpty()) {
        throw failures.pop();
      }
      if (values.stream().anyMatch(value -> value < 0)) {
        throw new RowsRejectedException("negative", null);
      }
    }

    @Override
    public boolean writeDirect(List<BinaryRowData> rows) throws Exception {
      if (altered) {
        return false;
      }
      check(rows.stream().map(row -> row.getLong(0)).toList());
      rows.forEach(row -> stored.add(row.getLong(0) + " direct"));
      return true;
    }

    @Override
    public void write(List<Object[]> rows) throws Exception {
      check(rows.stream().map(row -> (Long) row[0]).toList());
      rows.forEach(row -> stored.add(row[0] + " plain"));
    }

    @Override
    public void close() {}
  }

  private final Store store = new Store();
  private final Counts counts = new Counts();
  private final List<Rejects.Rejected> aside = new ArrayList<>();
  private final PatientWriter patient =
      new PatientWriter(
          store,
          new Backoff(100, 1_000, new SplittableRandom(1)),
          ms -> {},
          counts,
          new Rejects() {
            @Override
            public void setAside(List<Rejected> rows) {
              aside.addAll(rows);
            }

            @Override
            public void close() {}
          });
  private final QuickWriter writer =
      new QuickWriter(store, new RowConverter(TYPE), patient, counts);

  private static List<BinaryRowData> rows(long... values) {
    List<BinaryRowData> rows = new ArrayList<>();
    for (long value : values) {
      rows.add(new RowDataSerializer(TYPE).toBinaryRow(GenericRowData.of(value)).copy());
    }
    return rows;
  }

  @Test
  void whatGoesAtOnceIsNeverPlain() throws Exception {
    writer.write(rows(1, 2));
    writer.write(rows());
    assertThat(store.stored).containsExactly("1 direct", "2 direct");
    assertThat(counts.written).isEqualTo(2);
  }

  @Test
  void anOutageIsWaitedForAndEachRowIsCountedOnce() throws Exception {
    store.failures.addAll(List.of(new IOException("away"), new IOException("still away")));
    writer.write(rows(1, 2));
    assertThat(store.stored).containsExactly("1 plain", "2 plain");
    assertThat(counts.written).isEqualTo(2);
    assertThat(counts.retried).isEqualTo(2);
    writer.write(rows(3));
    assertThat(store.stored).last().isEqualTo("3 direct");
  }

  @Test
  void aRowAtFaultIsSetAsideAndTheOthersAreWritten() throws Exception {
    writer.write(rows(1, -2, 3));
    assertThat(store.stored).contains("1 plain", "3 plain");
    assertThat(aside).hasSize(1);
    assertThat(counts.rejected).isEqualTo(1);
  }

  @Test
  void whatWentAtOnceCountsAsTakenBefore() throws Exception {
    writer.write(rows(1));
    writer.write(rows(-2));
    assertThat(aside).as("the table takes a row that it took before").hasSize(1);
  }

  @Test
  void aTableThatNeverTookARowIsAtFault() {
    assertThatThrownBy(() -> writer.write(rows(-1))).isInstanceOf(TableAtFaultException.class);
  }

  @Test
  void aTableThatWasAlteredIsWrittenPlainly() throws Exception {
    store.altered = true;
    writer.write(rows(1));
    assertThat(store.stored).containsExactly("1 plain");
    assertThat(counts.retried).isZero();
  }
}
