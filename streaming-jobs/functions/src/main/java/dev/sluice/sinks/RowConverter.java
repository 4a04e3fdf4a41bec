package dev.sluice.sinks;

import java.io.Serializable;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;

/** Flink's internal rows to plain Java values, for the types that sink tables may have. */
public final class RowConverter implements Serializable {
  private static final long serialVersionUID = 1L;

  /** One column of a row as a plain value. */
  @FunctionalInterface
  public interface Column {
    Object of(RowData row);
  }

  private interface Cell extends Serializable {
    Object of(Object value);
  }

  private final RowData.FieldGetter[] getters;
  private final Cell[] cells;

  public RowConverter(RowType type) {
    List<LogicalType> types = type.getChildren();
    getters = new RowData.FieldGetter[types.size()];
    cells = new Cell[types.size()];
    for (int i = 0; i < getters.length; i++) {
      getters[i] = RowData.createFieldGetter(types.get(i), i);
      cells[i] = cell(types.get(i), type.getFieldNames().get(i));
    }
  }

  Object[] convert(RowData row) {
    Object[] values = new Object[getters.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(row, i);
    }
    return values;
  }

  public Column column(int position) {
    return row -> value(row, position);
  }

  private Object value(RowData row, int position) {
    Object value = getters[position].getFieldOrNull(row);
    return value == null ? null : cells[position].of(value);
  }

  private static Cell cell(LogicalType type, String column) {
    return switch (type.getTypeRoot()) {
      case BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, FLOAT, DOUBLE -> value -> value;
      case CHAR, VARCHAR -> Object::toString;
      case DECIMAL -> decimal((DecimalType) type);
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
          value -> ((TimestampData) value).toInstant().atZone(ZoneOffset.UTC);
      case MAP -> map((MapType) type, column);
      default -> throw unsupported(type, column);
    };
  }

  /** Whole numbers as BigInteger, which stores take for integers of more than 64 bits. */
  private static Cell decimal(DecimalType type) {
    return type.getScale() == 0
        ? value -> ((DecimalData) value).toBigDecimal().toBigIntegerExact()
        : value -> ((DecimalData) value).toBigDecimal();
  }

  /** Histograms are the only maps. */
  private static Cell map(MapType type, String column) {
    if (type.getKeyType().getTypeRoot() != LogicalTypeRoot.SMALLINT
        || type.getValueType().getTypeRoot() != LogicalTypeRoot.INTEGER) {
      throw unsupported(type, column);
    }
    return data -> {
      MapData map = (MapData) data;
      return new SparseCounts(map.keyArray().toShortArray(), map.valueArray().toIntArray());
    };
  }

  static ValidationException unsupported(LogicalType type, String column) {
    return new ValidationException(
        "Column " + column + " has type " + type.asSummaryString() + ": not supported here");
  }
}
