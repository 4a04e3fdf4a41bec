package dev.sluice.sinks;

import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.writer.BinaryRowWriter;
import org.apache.flink.table.runtime.typeutils.InternalSerializers;
import org.apache.flink.table.runtime.typeutils.MapDataSerializer;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * Copies rows to Flink's bytes, each column by its type: {@link RowDataSerializer} boxes numbers.
 */
final class RowCopier {
  private static final int SPARE_BYTES = 64;

  @FunctionalInterface
  private interface Cell {
    void copy(RowData from, BinaryRowWriter to);
  }

  private final Cell[] cells;
  private int variableBytes = 256;

  RowCopier(RowType type) {
    List<LogicalType> types = type.getChildren();
    cells = new Cell[types.size()];
    for (int i = 0; i < cells.length; i++) {
      cells[i] = orNull(types.get(i), i, cell(types.get(i), i));
    }
  }

  BinaryRowData copy(RowData row) {
    if (row instanceof BinaryRowData binary) {
      return binary.copy();
    }
    BinaryRowData copy = new BinaryRowData(cells.length);
    BinaryRowWriter writer = new BinaryRowWriter(copy, variableBytes);
    writer.writeRowKind(row.getRowKind());
    for (Cell cell : cells) {
      cell.copy(row, writer);
    }
    writer.complete();
    int used = copy.getSizeInBytes() - copy.getFixedLengthPartSize();
    variableBytes = Math.max(SPARE_BYTES, used + used / 8);
    return copy;
  }

  private static Cell orNull(LogicalType type, int at, Cell cell) {
    if (!type.isNullable()) {
      return cell;
    }
    return (from, to) -> {
      if (from.isNullAt(at)) {
        to.setNullAt(at);
      } else {
        cell.copy(from, to);
      }
    };
  }

  private static Cell cell(LogicalType type, int at) {
    return switch (type.getTypeRoot()) {
      case BOOLEAN -> (from, to) -> to.writeBoolean(at, from.getBoolean(at));
      case TINYINT -> (from, to) -> to.writeByte(at, from.getByte(at));
      case SMALLINT -> (from, to) -> to.writeShort(at, from.getShort(at));
      case INTEGER -> (from, to) -> to.writeInt(at, from.getInt(at));
      case BIGINT -> (from, to) -> to.writeLong(at, from.getLong(at));
      case FLOAT -> (from, to) -> to.writeFloat(at, from.getFloat(at));
      case DOUBLE -> (from, to) -> to.writeDouble(at, from.getDouble(at));
      case CHAR, VARCHAR -> (from, to) -> to.writeString(at, from.getString(at));
      case DECIMAL -> {
        int precision = LogicalTypeChecks.getPrecision(type);
        int scale = LogicalTypeChecks.getScale(type);
        yield (from, to) -> to.writeDecimal(at, from.getDecimal(at, precision, scale), precision);
      }
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> {
        int precision = LogicalTypeChecks.getPrecision(type);
        yield (from, to) -> to.writeTimestamp(at, from.getTimestamp(at, precision), precision);
      }
      case MAP -> {
        MapDataSerializer serializer =
            (MapDataSerializer) (Object) InternalSerializers.create(type);
        yield (from, to) -> to.writeMap(at, from.getMap(at), serializer);
      }
      default -> throw new IllegalArgumentException("copy a column of " + type.asSummaryString());
    };
  }
}
