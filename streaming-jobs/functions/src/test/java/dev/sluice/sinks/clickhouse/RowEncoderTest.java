package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.clickhouse.client.api.data_formats.RowBinaryFormatWriter;
import com.clickhouse.client.api.metadata.TableSchema;
import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseFormat;
import dev.sluice.sinks.SparseCounts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RowEncoderTest {
  private static final List<ClickHouseColumn> COLUMNS =
      List.of(
          ClickHouseColumn.of("service", "LowCardinality(String)"),
          ClickHouseColumn.of("bucket", "DateTime64(3, 'UTC')"),
          ClickHouseColumn.of("busy_ns", "UInt64"),
          ClickHouseColumn.of("latency", "Map(Int16, UInt32)"));
  private static final ZonedDateTime TIME = Instant.ofEpochMilli(1_234).atZone(ZoneOffset.UTC);

  private static Object[] row(Object latency) {
    return new Object[] {"cart", TIME, 7L, latency};
  }

  @Test
  void histogramIsCountThenKeysAndValuesLittleEndian() throws IOException {
    byte[] bytes =
        new RowEncoder(COLUMNS.subList(3, 4))
            .encode(
                List.<Object[]>of(
                    new Object[] {new SparseCounts(new short[] {-1, 1275}, new int[] {2, 300})}));
    // 1275 = 0x04FB, 300 = 0x012C
    assertThat(bytes).containsExactly(2, 0xFF, 0xFF, 2, 0, 0, 0, 0xFB, 0x04, 0x2C, 0x01, 0, 0);
  }

  @Test
  void rowsAreThoseOfTheClientsOwnWriter() throws IOException {
    short[] keys = new short[200];
    int[] values = new int[200];
    Map<Short, Integer> boxed = new LinkedHashMap<>();
    for (int i = 0; i < keys.length; i++) {
      keys[i] = (short) (7 * i - 1);
      values[i] = i + 1;
      boxed.put(keys[i], values[i]);
    }
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    for (int count = 0; count < 2; count++) {
      RowBinaryFormatWriter writer =
          new RowBinaryFormatWriter(
              expected, new TableSchema("t", "", "d", COLUMNS), ClickHouseFormat.RowBinary);
      Object[] row = row(boxed);
      for (int i = 0; i < row.length; i++) {
        writer.setValue(i + 1, row[i]);
      }
      writer.commitRow();
    }
    Object[] row = row(new SparseCounts(keys, values));
    assertThat(new RowEncoder(COLUMNS).encode(List.of(row, row))).isEqualTo(expected.toByteArray());
  }

  @Test
  void histogramForAnotherTypeIsRefusedByName() {
    List<ClickHouseColumn> wrong = List.of(ClickHouseColumn.of("latency", "Map(Int16, UInt64)"));
    SparseCounts counts = new SparseCounts(new short[0], new int[0]);
    assertThatThrownBy(() -> new RowEncoder(wrong).encode(List.<Object[]>of(new Object[] {counts})))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column latency")
        .hasMessageContaining("Map(Int16, UInt64)");
  }

  @Test
  void missingValueOfAColumnThatNeedsOneIsRefused() {
    assertThatThrownBy(() -> new RowEncoder(COLUMNS).encode(List.<Object[]>of(row(null))))
        .hasMessageContaining("latency");
  }
}
