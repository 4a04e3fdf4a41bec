package dev.sluice.sinks;

import java.io.Serializable;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;

/** Flink's internal rows to plain Java values, for the types that sink tables may have. */
final class RowConverter implements Serializable {
  private static final long serialVersionUID = 1L;

  private interface Cell extends Serializable {
    Object of(Object value);
  }

  private final RowData.FieldGetter[] getters;
  private final Cell[] cells;

  RowConverter(RowType type) {
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
      Object value = getters[i].getFieldOrNull(row);
      values[i] = value == null ? null : cells[i].of(value);
    }
    return values;
  }

  private static Cell cell(LogicalType type, String column) {
    return switch (type.getTypeRoot()) {
      case BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, FLOAT, DOUBLE -> value -> value;
      case CHAR, VARCHAR -> Object::toString;
      case DECIMAL -> decimal((DecimalType) type);
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
          value ->
              ((org.apache.flink.table.data.TimestampData) value)
                  .toInstant()
                  .atZone(ZoneOffset.UTC);
      case MAP -> map((MapType) type, column);
      default ->
          throw new ValidationException(
              "Column " + column + " has type " + type.asSummaryString() + ": not supported here");
    };
  }

  /** Whole numbers as BigInteger: what stores take for integers of more than 64 bits. */
  private static Cell decimal(DecimalType type) {
    return type.getScale() == 0
        ? value -> ((DecimalData) value).toBigDecimal().toBigIntegerExact()
        : value -> ((DecimalData) value).toBigDecimal();
  }

  private static Cell map(MapType type, String column) {
    Cell keys = cell(type.getKeyType(), column);
    Cell values = cell(type.getValueType(), column);
    ArrayData.ElementGetter key = ArrayData.createElementGetter(type.getKeyType());
    ArrayData.ElementGetter value = ArrayData.createElementGetter(type.getValueType());
    return data -> {
      MapData map = (MapData) data;
      Map<Object, Object> result = new LinkedHashMap<>();
      for (int i = 0; i < map.size(); i++) {
        Object v = value.getElementOrNull(map.valueArray(), i);
        result.put(
            keys.of(key.getElementOrNull(map.keyArray(), i)), v == null ? null : values.of(v));
      }
      return result;
    };
  }
}
