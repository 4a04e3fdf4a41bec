package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.clickhouse.client.api.data_formats.RowBinaryFormatWriter;
import com.clickhouse.client.api.metadata.TableSchema;
import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseFormat;
import dev.sluice.sinks.RowsRejectedException;
import dev.sluice.sinks.SparseCounts;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValueEncoderTest {
  private static final List<ClickHouseColumn> COLUMNS =
      List.of(
          ClickHouseColumn.of("service", "LowCardinality(String)"),
          ClickHouseColumn.of("bucket", "DateTime64(3, 'UTC')"),
          ClickHouseColumn.of("busy_ns", "UInt64"),
          ClickHouseColumn.of("latency", "Map(Int16, UInt32)"));
  private static final ZonedDateTime TIME = Instant.ofEpochMilli(1_234).atZone(ZoneOffset.UTC);

  private static byte[] values(List<ClickHouseColumn> columns, Object... values) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < values.length; i++) {
      ValueEncoder.encode(out, columns.get(i), values[i]);
    }
    return out.toByteArray();
  }

  private static byte[] one(String type, Object value) throws Exception {
    return values(List.of(ClickHouseColumn.of("c", type)), value);
  }

  private static Object[] row(Object latency) {
    return new Object[] {"cart", TIME, 7L, latency};
  }

  @Test
  void headerHasTheNumberOfColumnsTheirNamesAndTheirTypes() throws Exception {
    List<String> names = List.of("a", "bc");
    Map<String, String> types = Map.of("a", "UInt8", "bc", "String");
    Partitions whole = new Partitions(List.of(), 0);
    byte[] header = RowEncoder.header(TableColumns.of(names, types, whole));
    assertThat(new String(header, StandardCharsets.UTF_8))
        .isEqualTo("\u0002\u0001a\u0002bc\u0005UInt8\u0006String");
  }

  @Test
  void histogramIsCountThenKeysAndValuesLittleEndian() throws Exception {
    SparseCounts counts = new SparseCounts(new short[] {-1, 1275}, new int[] {2, 300});
    // 1275 = 0x04FB, 300 = 0x012C
    assertThat(one("Map(Int16, UInt32)", counts))
        .containsExactly(2, 0xFF, 0xFF, 2, 0, 0, 0, 0xFB, 0x04, 0x2C, 0x01, 0, 0);
    assertThat(one("Map(Int32, UInt64)", counts))
        .containsExactly(
            2, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 0, 0, 0, 0, //
            0xFB, 0x04, 0, 0, 0x2C, 0x01, 0, 0, 0, 0, 0, 0);
  }

  @Test
  void aRowIsThatOfTheClientsOwnWriter() throws Exception {
    short[] keys = new short[200];
    int[] values = new int[200];
    Map<Short, Integer> boxed = new LinkedHashMap<>();
    for (int i = 0; i < keys.length; i++) {
      keys[i] = (short) (7 * i - 1);
      values[i] = i + 1;
      boxed.put(keys[i], values[i]);
    }
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    RowBinaryFormatWriter writer =
        new RowBinaryFormatWriter(
            expected, new TableSchema("t", "", "d", COLUMNS), ClickHouseFormat.RowBinary);
    Object[] row = row(boxed);
    for (int i = 0; i < row.length; i++) {
      writer.setValue(i + 1, row[i]);
    }
    writer.commitRow();
    assertThat(values(COLUMNS, row(new SparseCounts(keys, values))))
        .isEqualTo(expected.toByteArray());
  }

  @Test
  void valuesAreKeptInWhateverTypeTheColumnHas() throws Exception {
    assertThat(one("UInt8", 255L)).containsExactly(0xFF);
    assertThat(one("Int8", -128)).containsExactly(0x80);
    assertThat(one("UInt64", Long.MAX_VALUE)).endsWith(0x7F);
    assertThat(one("UInt64", BigInteger.TWO.pow(63))).containsExactly(0, 0, 0, 0, 0, 0, 0, 0x80);
    assertThat(one("Int128", -1L)).hasSize(16).containsOnly(0xFF);
    assertThat(one("Float64", 2L)).containsExactly(0, 0, 0, 0, 0, 0, 0, 0x40);
    assertThat(one("Decimal(4, 1)", 12L)).startsWith(120);
    assertThat(one("String", 12L)).containsExactly(2, '1', '2');
    assertThat(one("LowCardinality(Nullable(String))", "x")).containsExactly(0, 1, 'x');
    assertThat(one("Nullable(UInt8)", null)).containsExactly(1);
    assertThat(one("DateTime('UTC')", TIME)).containsExactly(1, 0, 0, 0);
    assertThat(new String(one("String", TIME), StandardCharsets.UTF_8))
        .endsWith("1970-01-01 00:00:01.234");
    assertThat(one("UInt8", true)).containsExactly(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "UInt8; 256",
        "UInt8; -1",
        "UInt64; -1",
        "Int32; 2147483648",
        "Int32; -2147483649",
        "UInt32; 4294967296",
        "Decimal(3, 1); 100"
      })
  void aNumberThatDoesNotFitIsRefusedWithItsColumnAndType(String type, long value) {
    assertThatThrownBy(() -> one(type, value))
        .isInstanceOf(RowsRejectedException.class)
        .hasMessageContaining("column c: " + value + " ")
        .hasMessageContaining(type);
  }

  @Test
  void otherValuesThatDoNotFitAreRefusedWithTheirColumn() {
    for (Object[] pair :
        new Object[][] {
          {"Int64", 1.5},
          {"Int64", BigInteger.TWO.pow(63)},
          {"Enum8('a' = 1)", "b"},
          {"FixedString(2)", "abc"},
          {"DateTime", TIME.minusYears(1)},
          {"Map(Int8, UInt32)", new SparseCounts(new short[] {128}, new int[] {1})},
        }) {
      assertThatThrownBy(() -> one((String) pair[0], pair[1]))
          .as("%s", (Object) pair)
          .isInstanceOf(RowsRejectedException.class)
          .hasMessageStartingWith("column c: ");
    }
  }

  @Test
  void aTypeThatTakesNoSuchValuesIsNamed() {
    for (Object[] pair :
        new Object[][] {
          {"Map(Int16, UUID)", new SparseCounts(new short[] {1}, new int[] {1})},
          {"Array(Int64)", 1L},
          {"DateTime", 1L},
          {"Int64", "cart"},
          {"Int64", TIME},
          {"UUID", "cart"},
        }) {
      assertThatThrownBy(() -> one((String) pair[0], pair[1]))
          .as("%s", (Object) pair)
          .isInstanceOf(ExactValue.WrongTypeException.class)
          .hasMessageStartingWith("column c is " + pair[0] + ", which takes no ");
    }
  }

  @Test
  void missingValueOfAColumnThatNeedsOneIsRefused() {
    assertThatThrownBy(() -> values(COLUMNS, row(null)))
        .isInstanceOf(RowsRejectedException.class)
        .hasMessageContaining("latency");
  }
}
