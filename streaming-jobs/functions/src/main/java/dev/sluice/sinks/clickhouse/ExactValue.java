package dev.sluice.sinks.clickhouse;

import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseDataType;
import dev.sluice.sinks.SparseCounts;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Converts a sink's values to the form that the client's serializer needs for a column of any type.
 * The serializer itself casts where types differ, and wraps values that do not fit. Here a value is
 * kept exactly (except for digits that a Float or a coarser time does not have), or refused.
 */
final class ExactValue {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS");

  private ExactValue() {}

  /** The column's type takes no value of the sink's type: the table is at fault. */
  static final class WrongTypeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    WrongTypeException(ClickHouseColumn column, Object value) {
      super(
          "column %s is %s, which takes no %s"
              .formatted(column.getColumnName(), type(column), kind(value)));
    }
  }

  /**
   * @param value not null
   * @throws WrongTypeException if the column takes no value of this class
   * @throws IllegalArgumentException if it takes others, but not this one
   */
  static Object of(ClickHouseColumn column, Object value) {
    return switch (column.getDataType()) {
      case Int8,
          Int16,
          Int32,
          UInt8,
          UInt16,
          Int64,
          UInt32,
          UInt64,
          Int128,
          UInt128,
          Int256,
          UInt256 ->
          integer(column, value);
      case Float32 -> (float) number(column, value).doubleValue();
      case Float64 -> number(column, value).doubleValue();
      case Decimal, Decimal32, Decimal64, Decimal128, Decimal256 -> decimal(column, value);
      case Bool -> bool(column, value);
      case String, FixedString -> text(column, value);
      case Enum8, Enum16 -> value instanceof String ? value : wrong(column, value);
      case Date, Date32, DateTime, DateTime64 ->
          value instanceof ZonedDateTime ? value : wrong(column, value);
      case Map -> map(column, value);
      default -> wrong(column, value);
    };
  }

  private static Object wrong(ClickHouseColumn column, Object value) {
    throw new WrongTypeException(column, value);
  }

  private static Number number(ClickHouseColumn column, Object value) {
    return value instanceof Number number ? number : (Number) wrong(column, value);
  }

  private static Object integer(ClickHouseColumn column, Object value) {
    Object plain = value instanceof Boolean flag ? (Object) (flag ? 1L : 0L) : value;
    ClickHouseDataType type = column.getDataType();
    int bits = 8 * type.getByteLength();
    if (plain instanceof BigInteger || bits > Long.SIZE) {
      return whole(column, plain);
    }
    long number =
        plain instanceof Long
                || plain instanceof Integer
                || plain instanceof Short
                || plain instanceof Byte
            ? ((Number) plain).longValue()
            : whole(column, plain).longValueExact();
    int valueBits = type.isSigned() ? bits - 1 : bits;
    long least = type.isSigned() ? -1L << valueBits : 0;
    boolean above = valueBits < Long.SIZE - 1 && number >> valueBits > 0;
    return number < least || above ? outside(column, value) : (Object) number;
  }

  private static BigInteger whole(ClickHouseColumn column, Object value) {
    BigInteger whole;
    try {
      whole =
          value instanceof BigInteger big
              ? big
              : new BigDecimal(number(column, value).toString()).toBigIntegerExact();
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(value + " is no whole number", e);
    }
    ClickHouseDataType type = column.getDataType();
    int bits = 8 * type.getByteLength();
    boolean fits = type.isSigned() ? whole.bitLength() < bits : whole.bitLength() <= bits;
    return fits && (type.isSigned() || whole.signum() >= 0)
        ? whole
        : (BigInteger) outside(column, value);
  }

  private static BigDecimal decimal(ClickHouseColumn column, Object value) {
    BigDecimal exact;
    try {
      exact = new BigDecimal(number(column, value).toString()).setScale(column.getScale());
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(value + " does not fit " + type(column), e);
    }
    return exact.precision() <= column.getPrecision() ? exact : (BigDecimal) outside(column, value);
  }

  private static Object bool(ClickHouseColumn column, Object value) {
    return value instanceof Boolean ? value : wrong(column, value);
  }

  private static Object text(ClickHouseColumn column, Object value) {
    if (value instanceof SparseCounts) {
      return wrong(column, value);
    }
    return value instanceof ZonedDateTime time ? TIME.format(time) : value.toString();
  }

  private static Object map(ClickHouseColumn column, Object value) {
    if (!(value instanceof SparseCounts counts)) {
      return wrong(column, value);
    }
    Map<Object, Object> cells = new LinkedHashMap<>();
    try {
      for (int i = 0; i < counts.keys().length; i++) {
        // A count is an unsigned number in the bits of an int.
        cells.put(
            of(column.getKeyInfo(), counts.keys()[i]),
            of(column.getValueInfo(), Integer.toUnsignedLong(counts.values()[i])));
      }
    } catch (WrongTypeException e) {
      return wrong(column, value);
    }
    return cells;
  }

  private static Object outside(ClickHouseColumn column, Object value) {
    throw new IllegalArgumentException(value + " is outside the range of " + type(column));
  }

  private static String kind(Object value) {
    if (value instanceof Number) {
      return "numbers";
    }
    if (value instanceof ZonedDateTime) {
      return "times";
    }
    if (value instanceof SparseCounts) {
      return "histograms";
    }
    return value instanceof Boolean ? "booleans" : "texts";
  }

  private static String type(ClickHouseColumn column) {
    return column.getOriginalTypeName();
  }
}
