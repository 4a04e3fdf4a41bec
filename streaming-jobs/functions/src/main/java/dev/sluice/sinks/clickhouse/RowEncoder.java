package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.data_formats.RowBinaryFormatSerializer;
import com.clickhouse.client.api.data_formats.internal.SerializerUtils;
import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseDataType;
import com.clickhouse.data.format.BinaryStreamUtils;
import dev.sluice.sinks.RowsRejectedException;
import dev.sluice.sinks.SparseCounts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Encodes rows in RowBinaryWithNamesAndTypes: the server refuses them as soon as a column's type
 * differs, instead of misreading the bytes. The client's own serializer writes the values, except
 * for histograms: it would convert each of their cells to two boxes and a BigInteger, and they are
 * most of a row.
 */
final class RowEncoder {
  private static final int CELL_BYTES = Short.BYTES + Integer.BYTES;

  private final TableColumns table;
  private final byte[] header;

  RowEncoder(TableColumns table) throws IOException {
    this.table = table;
    header = header(table);
  }

  /** Names and types, which precede the rows. */
  static byte[] header(TableColumns table) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryStreamUtils.writeVarInt(out, table.columns().size());
    for (String name : table.names()) {
      BinaryStreamUtils.writeString(out, name);
    }
    for (String type : table.types()) {
      BinaryStreamUtils.writeString(out, type);
    }
    return out.toByteArray();
  }

  /**
   * @param rows each with one value per column of the sink
   * @throws RowsRejectedException with the column, if it does not take a value
   * @throws ExactValue.WrongTypeException with the column, if it takes no values of this type
   */
  byte[] encode(List<Object[]> rows) throws IOException, RowsRejectedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream(header.length + 128 * rows.size());
    out.writeBytes(header);
    for (Object[] row : rows) {
      for (int i = 0; i < table.columns().size(); i++) {
        cell(out, table.columns().get(i), row[table.positions().get(i)]);
      }
    }
    return out.toByteArray();
  }

  /** One value of a row. */
  static void cell(OutputStream out, ClickHouseColumn column, Object value)
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
