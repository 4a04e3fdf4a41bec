package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.sinks.RowConverter;
import dev.sluice.sinks.RowsRejectedException;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

/** The bytes of Flink's rows are those of their plain values. */
class RowEncoderTest {
  private static final Partitions WHOLE = new Partitions(List.of(), 0);
  private static final DataType MAP = DataTypes.MAP(DataTypes.SMALLINT(), DataTypes.INT());

  private final SplittableRandom random = new SplittableRandom(1);

  private static RowType type(DataType... types) {
    DataTypes.Field[] fields = new DataTypes.Field[types.length];
    for (int i = 0; i < types.length; i++) {
      fields[i] = DataTypes.FIELD("c" + i, types[i]);
    }
    return (RowType) DataTypes.ROW(fields).getLogicalType();
  }

  private static BinaryRowData binary(RowType type, Object... values) {
    return new RowDataSerializer(type).toBinaryRow(GenericRowData.of(values)).copy();
  }

  private static void same(RowType type, List<String> stored, List<BinaryRowData> rows)
      throws Exception {
    Map<String, String> types = new LinkedHashMap<>();
    for (int i = 0; i < stored.size(); i++) {
      types.put("c" + i, stored.get(i));
    }
    TableColumns table = TableColumns.of(type.getFieldNames(), types, WHOLE);
    RowConverter converter = new RowConverter(type);
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    plain.writeBytes(RowEncoder.header(table));
    for (BinaryRowData row : rows) {
      for (int i = 0; i < table.columns().size(); i++) {
        Object value = converter.column(table.positions().get(i)).of(row);
        ValueEncoder.encode(plain, table.columns().get(i), value);
      }
    }
    assertThat(new RowEncoder(table, type).encode(rows))
        .as("%s", stored)
        .isEqualTo(plain.toByteArray());
  }

  private long upTo(int bits) {
    return random.nextLong() >>> random.nextInt(Long.SIZE - bits, Long.SIZE);
  }

  private Object histogram() {
    Map<Object, Object> cells = new LinkedHashMap<>();
    for (int i = random.nextInt(200); i > 0; i--) {
      cells.put((short) random.nextInt(-1, 2_000), random.nextInt());
    }
    return new GenericMapData(cells);
  }

  @Test
  void rowsOfEveryTypeThatTheTablesHave() throws Exception {
    RowType type =
        type(
            DataTypes.STRING().notNull(),
            DataTypes.STRING().notNull(),
            DataTypes.TIMESTAMP_LTZ(3).notNull(),
            DataTypes.TIMESTAMP_LTZ(3).notNull(),
            DataTypes.INT().notNull(),
            DataTypes.BIGINT().notNull(),
            DataTypes.BIGINT().notNull(),
            DataTypes.DECIMAL(38, 0).notNull(),
            DataTypes.BOOLEAN().notNull(),
            MAP);
    List<String> stored =
        List.of(
            "Enum8('server' = 1, 'client' = 2, 'consumer' = 3)",
            "LowCardinality(String)",
            "DateTime64(3, 'UTC')",
            "DateTime('UTC')",
            "UInt16",
            "UInt64",
            "Int64",
            "UInt128",
            "Bool",
            "Map(Int16, UInt32)");
    List<BinaryRowData> rows = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      String name = "ä" + "x".repeat(random.nextInt(300)) + i;
      BigDecimal wide = new BigDecimal(upTo(62)).multiply(new BigDecimal(upTo(60))).setScale(0);
      rows.add(
          binary(
              type,
              StringData.fromString(random.nextBoolean() ? "server" : "client"),
              StringData.fromString(name),
              TimestampData.fromEpochMillis(upTo(42)),
              TimestampData.fromEpochMillis(upTo(41)),
              (int) upTo(16),
              upTo(63),
              random.nextLong(),
              DecimalData.fromBigDecimal(wide, 38, 0),
              random.nextBoolean(),
              histogram()));
    }
    same(type, stored, rows);
  }

  @Test
  void alteredColumnsAndNulls() throws Exception {
    RowType type = type(DataTypes.BIGINT(), DataTypes.STRING(), DataTypes.DECIMAL(38, 0), MAP);
    List<BinaryRowData> rows =
        List.of(
            binary(type, 7L, StringData.fromString("x"), decimal("-7"), histogram()),
            binary(type, 300L, StringData.fromString(""), decimal("9".repeat(38)), histogram()));
    for (List<String> stored :
        List.of(
            List.of("String", "Nullable(String)", "Int128", "Map(Int32, UInt64)"),
            List.of("Float64", "LowCardinality(Nullable(String))", "Int256", "Map(Int16, UInt32)"),
            List.of("Decimal(18, 2)", "String", "Int128", "Map(Int16, UInt32)"))) {
      same(type, stored, rows);
    }
    BinaryRowData none = binary(type, null, null, null, null);
    same(
        type,
        List.of("Nullable(Int64)", "Nullable(String)", "Nullable(Int128)"),
        List.of(none, none));
  }

  private static DecimalData decimal(String value) {
    return DecimalData.fromBigDecimal(new BigDecimal(value), 38, 0);
  }

  @Test
  void aValueThatDoesNotFitIsRefusedWithItsColumn() {
    RowType type = type(DataTypes.BIGINT().notNull(), DataTypes.DECIMAL(38, 0).notNull());
    for (Object[] pair :
        new Object[][] {
          {"UInt8", 256L, "UInt128", "1"},
          {"UInt64", -1L, "UInt128", "1"},
          {"Int32", 1L << 31, "UInt128", "1"},
          {"UInt64", 1L, "UInt128", "-1"},
        }) {
      BinaryRowData row = binary(type, pair[1], decimal((String) pair[3]));
      assertThatThrownBy(
              () -> same(type, List.of((String) pair[0], (String) pair[2]), List.of(row)))
          .as("%s", (Object) pair)
          .isInstanceOf(RowsRejectedException.class)
          .hasMessageStartingWith("column c");
    }
  }

  @Test
  void aNullThatAColumnCannotTakeIsRefused() {
    RowType type = type(MAP);
    assertThatThrownBy(
            () -> same(type, List.of("Map(Int16, UInt32)"), List.of(binary(type, (Object) null))))
        .isInstanceOf(RowsRejectedException.class);
  }
}
