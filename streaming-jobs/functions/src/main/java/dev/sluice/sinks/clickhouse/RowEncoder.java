package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.data_formats.RowBinaryFormatSerializer;
import com.clickhouse.client.api.data_formats.internal.SerializerUtils;
import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseDataType;
import com.clickhouse.data.format.BinaryStreamUtils;
import dev.sluice.sinks.SparseCounts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Rows in RowBinary, by the client's own serializer but for histograms: it would take each of their
 * cells through two boxes and a BigInteger, and they are most of a row.
 */
final class RowEncoder {
  private static final int CELL_BYTES = Short.BYTES + Integer.BYTES;

  private final List<ClickHouseColumn> columns;

  RowEncoder(List<ClickHouseColumn> columns) {
    this.columns = columns;
  }

  byte[] encode(List<Object[]> rows) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream(128 * rows.size());
    for (Object[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        cell(out, columns.get(i), row[i]);
      }
    }
    return out.toByteArray();
  }

  private static void cell(ByteArrayOutputStream out, ClickHouseColumn column, Object value)
      throws IOException {
    if (value instanceof SparseCounts counts) {
      counts(out, column, counts);
    } else if (RowBinaryFormatSerializer.writeValuePreamble(out, false, column, value)) {
      SerializerUtils.serializeData(out, value, column);
    }
  }

  /** Map(Int16, UInt32): the number of cells, then each key and count, little endian. */
  private static void counts(
      ByteArrayOutputStream out, ClickHouseColumn column, SparseCounts counts) throws IOException {
    if (column.getDataType() != ClickHouseDataType.Map
        || column.getKeyInfo().getDataType() != ClickHouseDataType.Int16
        || column.getValueInfo().getDataType() != ClickHouseDataType.UInt32) {
      throw new IllegalArgumentException(
          "column "
              + column.getColumnName()
              + " is "
              + column.getOriginalTypeName()
              + ", a histogram needs Map(Int16, UInt32)");
    }
    int size = counts.keys().length;
    ByteBuffer cells = ByteBuffer.allocate(size * CELL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < size; i++) {
      cells.putShort(counts.keys()[i]).putInt(counts.values()[i]);
    }
    BinaryStreamUtils.writeVarInt(out, size);
    out.write(cells.array());
  }
}
