package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.data_formats.RowBinaryFormatSerializer;
import com.clickhouse.client.api.data_formats.internal.SerializerUtils;
import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseDataType;
import com.clickhouse.data.format.BinaryStreamUtils;
import dev.sluice.sinks.RowsRejectedException;
import dev.sluice.sinks.SparseCounts;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Encodes a plain value for a column of any type, by the client's own serializer. Histograms are an
 * exception: the serializer would convert each of their cells to two boxes and a BigInteger, and
 * they are most of a row.
 */
final class ValueEncoder {
  private static final int CELL_BYTES = Short.BYTES + Integer.BYTES;

  private ValueEncoder() {}

  /**
   * @param value of the sink; null for none
   * @throws RowsRejectedException with the column, if it does not take the value
   * @throws ExactValue.WrongTypeException with the column, if it takes no values of this type
   */
  static void encode(OutputStream out, ClickHouseColumn column, Object value)
      throws IOException, RowsRejectedException {
    try {
      if (!RowBinaryFormatSerializer.writeValuePreamble(out, false, column, value)) {
        return;
      }
      if (value instanceof SparseCounts counts && isHistogram(column)) {
        counts(out, counts);
      } else {
        SerializerUtils.serializeData(out, ExactValue.of(column, value), column);
      }
    } catch (ExactValue.WrongTypeException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new RowsRejectedException(
          RowsRejectedException.NOT_ENCODABLE,
          "column " + column.getColumnName() + ": " + e.getMessage(),
          e);
    }
  }

  static boolean isHistogram(ClickHouseColumn column) {
    return column.getDataType() == ClickHouseDataType.Map
        && column.getKeyInfo().getDataType() == ClickHouseDataType.Int16
        && column.getValueInfo().getDataType() == ClickHouseDataType.UInt32
        && !column.getValueInfo().isNullable();
  }

  /** Map(Int16, UInt32): the number of cells, then each key and count, little endian. */
  private static void counts(OutputStream out, SparseCounts counts) throws IOException {
    int size = counts.keys().length;
    ByteBuffer cells = ByteBuffer.allocate(size * CELL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < size; i++) {
      cells.putShort(counts.keys()[i]).putInt(counts.values()[i]);
    }
    BinaryStreamUtils.writeVarInt(out, size);
    out.write(cells.array());
  }
}
