package dev.sluice.sinks.clickhouse;

import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseDataType;
import dev.sluice.sinks.RowConverter;
import dev.sluice.sinks.RowsRejectedException;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/** The encoder of each pair of Flink's and ClickHouse's types that the tables have. */
final class ColumnEncoders {
  private static final int MOST_TEXTS = 256; // of an Enum8
  private static final int WIDE_BYTES = 16;
  private static final int MS_SCALE = 3;

  private ColumnEncoders() {}

  /**
   * @param position of the column in the row
   */
  static ColumnEncoder of(RowType type, int position, ClickHouseColumn column) {
    ColumnEncoder plain = plain(type, position, column);
    if (column.isNullable()) {
      return plain;
    }
    ColumnEncoder direct = direct(type.getTypeAt(position), position, column);
    if (direct == null) {
      return plain;
    }
    return (row, out) -> (row.isNullAt(position) ? plain : direct).encode(row, out);
  }

  /** Goes by way of a plain value, for rare pairs. */
  private static ColumnEncoder plain(RowType type, int position, ClickHouseColumn column) {
    RowConverter.Column value = new RowConverter(type).column(position);
    return (row, out) -> ValueEncoder.encode(out, column, value.of(row));
  }

  /** Null where there is no such pair. */
  private static ColumnEncoder direct(LogicalType type, int at, ClickHouseColumn column) {
    LogicalTypeRoot root = type.getTypeRoot();
    return switch (column.getDataType()) {
      case Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64 ->
          switch (root) {
            case BIGINT -> number(column, row -> row.getLong(at));
            case INTEGER -> number(column, row -> row.getInt(at));
            case SMALLINT -> number(column, row -> row.getShort(at));
            default -> null;
          };
      case Int128, UInt128 -> root == LogicalTypeRoot.DECIMAL ? wide(type, at, column) : null;
      case Bool ->
          root == LogicalTypeRoot.BOOLEAN
              ? (row, out) -> out.write(row.getBoolean(at) ? 1 : 0)
              : null;
      case String ->
          isText(root) ? (row, out) -> out.text((BinaryStringData) row.getString(at)) : null;
      case Enum8, Enum16 -> isText(root) ? fewTexts(type, at, column) : null;
      case DateTime64 ->
          root == LogicalTypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE && column.getScale() == MS_SCALE
              ? (row, out) ->
                  out.number(row.getTimestamp(at, MS_SCALE).getMillisecond(), Long.BYTES)
              : null;
      case DateTime, DateTime32 ->
          root == LogicalTypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE ? seconds(at, column) : null;
      case Map ->
          root == LogicalTypeRoot.MAP && ValueEncoder.isHistogram(column) ? histogram(at) : null;
      default -> null;
    };
  }

  private static boolean isText(LogicalTypeRoot root) {
    return root == LogicalTypeRoot.VARCHAR || root == LogicalTypeRoot.CHAR;
  }

  @FunctionalInterface
  private interface Number {
    long of(BinaryRowData row);
  }

  private static ColumnEncoder number(ClickHouseColumn column, Number number) {
    ClickHouseDataType type = column.getDataType();
    int bytes = type.getByteLength();
    boolean signed = type.isSigned();
    int valueBits = 8 * bytes - (signed ? 1 : 0);
    long least = signed ? -1L << valueBits : 0;
    long most = valueBits >= Long.SIZE - 1 ? Long.MAX_VALUE : (1L << valueBits) - 1;
    return (row, out) -> {
      long value = number.of(row);
      if (value < least || value > most) {
        throw outside(column, value);
      }
      out.number(value, bytes);
    };
  }

  private static RowsRejectedException outside(ClickHouseColumn column, Object value) {
    String range = value + " is outside the range of " + column.getOriginalTypeName();
    return new RowsRejectedException(
        RowsRejectedException.NOT_ENCODABLE,
        "column " + column.getColumnName() + ": " + range,
        null);
  }

  /** Whole numbers of more than 64 bits, from Flink's big-endian bytes. */
  private static ColumnEncoder wide(LogicalType type, int at, ClickHouseColumn column) {
    DecimalType decimal = (DecimalType) type;
    if (decimal.getScale() != 0 || decimal.getPrecision() <= 18) {
      return null;
    }
    boolean signed = column.getDataType() == ClickHouseDataType.Int128;
    return (row, out) -> {
      byte[] bytes = row.getBinary(at);
      int fill = bytes.length > 0 && bytes[0] < 0 ? -1 : 0;
      if (fill != 0 && !signed) {
        throw outside(column, row.getDecimal(at, decimal.getPrecision(), 0));
      }
      for (int i = bytes.length - 1; i >= 0; i--) {
        out.write(bytes[i]);
      }
      for (int i = bytes.length; i < WIDE_BYTES; i++) {
        out.write(fill);
      }
    };
  }

  /** An enum of few texts: each is looked up once. */
  private static ColumnEncoder fewTexts(LogicalType type, int at, ClickHouseColumn column) {
    Map<BinaryStringData, byte[]> known = new HashMap<>();
    return (row, out) -> {
      BinaryStringData text = (BinaryStringData) row.getString(at);
      byte[] bytes = known.get(text);
      if (bytes != null) {
        out.write(bytes, 0, bytes.length);
        return;
      }
      int from = out.size();
      ValueEncoder.encode(out, column, text.toString());
      if (known.size() < MOST_TEXTS) {
        known.put(text.copy(), out.since(from));
      }
    };
  }

  private static ColumnEncoder seconds(int at, ClickHouseColumn column) {
    return (row, out) -> {
      long second = Math.floorDiv(row.getTimestamp(at, MS_SCALE).getMillisecond(), 1_000L);
      if (second < 0 || second > 0xffff_ffffL) {
        throw outside(column, second);
      }
      out.number(second, Integer.BYTES);
    };
  }

  /** The number of cells, then each key and count. */
  private static ColumnEncoder histogram(int at) {
    return (row, out) -> {
      MapData map = row.getMap(at);
      out.counts(map.keyArray().toShortArray(), map.valueArray().toIntArray());
    };
  }
}
