package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

class RowBufferTest {
  private static final RowType TYPE =
      (RowType)
          DataTypes.ROW(
                  DataTypes.FIELD("service", DataTypes.STRING().notNull()),
                  DataTypes.FIELD("bucket", DataTypes.TIMESTAMP_LTZ(3).notNull()),
                  DataTypes.FIELD("number", DataTypes.INT().notNull()),
                  DataTypes.FIELD("version", DataTypes.BIGINT().notNull()))
              .getLogicalType();

  private final RowBuffer buffer = new RowBuffer(TYPE, new int[] {0, 1, 2});

  @Test
  void ofRowsWithTheSameKeyOnlyTheLastStays() {
    SplittableRandom random = new SplittableRandom(1);
    Map<List<Object>, Long> expected = new HashMap<>();
    GenericRowData row = new GenericRowData(4); // used again, as Flink does
    for (long version = 0; version < 5_000; version++) {
      String service = "s" + random.nextInt(7);
      long ms = random.nextInt(9);
      int number = random.nextInt(-2, 3);
      row.setField(0, StringData.fromString(service));
      row.setField(1, TimestampData.fromEpochMillis(ms));
      row.setField(2, number);
      row.setField(3, version);
      buffer.put(row);
      expected.put(List.of(service, ms, number), version);
    }
    assertThat(buffer.waiting()).isEqualTo(expected.size());
    Map<List<Object>, Long> batch = new HashMap<>();
    for (BinaryRowData stored : buffer.take()) {
      List<Object> key =
          List.of(
              stored.getString(0).toString(),
              stored.getTimestamp(1, 3).getMillisecond(),
              stored.getInt(2));
      assertThat(batch.put(key, stored.getLong(3))).isNull();
    }
    assertThat(batch).isEqualTo(expected);
    assertThat(buffer.waiting()).isZero();
    assertThat(buffer.rows()).isEqualTo(expected.size());
    buffer.done();
    assertThat(buffer.rows()).isZero();
    assertThat(buffer.take()).isEmpty();
  }

  @Test
  void aKeyOfATypeThatIsNotComparedIsAnError() {
    RowType type =
        (RowType) DataTypes.ROW(DataTypes.FIELD("a", DataTypes.DOUBLE())).getLogicalType();
    assertThatThrownBy(() -> new RowBuffer(type, new int[] {0})).hasMessageContaining("DOUBLE");
  }
}
