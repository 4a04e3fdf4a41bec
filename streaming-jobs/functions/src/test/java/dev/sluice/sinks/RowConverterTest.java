package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.binary.BinaryArrayData;
import org.apache.flink.table.data.binary.BinaryMapData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

class RowConverterTest {
  private static RowConverter converter(DataType type) {
    return new RowConverter(
        (RowType) DataTypes.ROW(DataTypes.FIELD("column", type)).getLogicalType());
  }

  private static Object decimal(String value, int precision, int scale) {
    DecimalData data = DecimalData.fromBigDecimal(new BigDecimal(value), precision, scale);
    return converter(DataTypes.DECIMAL(precision, scale)).convert(GenericRowData.of(data))[0];
  }

  @Test
  void wholeDecimalsAreBigIntegers() {
    String largest = "9".repeat(38);
    assertThat(decimal(largest, 38, 0)).isEqualTo(new BigInteger(largest));
    assertThat(decimal("0", 38, 0)).isEqualTo(BigInteger.ZERO);
    assertThat(decimal("-7", 10, 0)).isEqualTo(BigInteger.valueOf(-7));
  }

  @Test
  void otherDecimalsKeepTheirScale() {
    assertThat(decimal("12.50", 10, 2)).isEqualTo(new BigDecimal("12.50"));
  }

  @Test
  void nullStaysNull() {
    Object[] row = converter(DataTypes.DECIMAL(38, 0)).convert(GenericRowData.of((Object) null));
    assertThat(row).containsExactly((Object) null);
  }

  @Test
  void histogramIsTakenOutOfTheRow() {
    BinaryMapData map =
        BinaryMapData.valueOf(
            BinaryArrayData.fromPrimitiveArray(new short[] {-1, 1275}),
            BinaryArrayData.fromPrimitiveArray(new int[] {2, 300}));
    Object[] row =
        converter(DataTypes.MAP(DataTypes.SMALLINT(), DataTypes.INT()))
            .convert(GenericRowData.of(map));
    SparseCounts counts = (SparseCounts) row[0];
    assertThat(counts.keys()).containsExactly((short) -1, (short) 1275);
    assertThat(counts.values()).containsExactly(2, 300);
  }

  @Test
  void otherMapIsNamedWithItsColumn() {
    assertThatThrownBy(() -> converter(DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining("Column column")
        .hasMessageContaining("MAP<STRING, INT>");
  }

  @Test
  void typeThatNoStoreTakesIsNamedWithItsColumn() {
    assertThatThrownBy(() -> converter(DataTypes.BYTES()))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining("Column column")
        .hasMessageContaining("BYTES");
  }
}
