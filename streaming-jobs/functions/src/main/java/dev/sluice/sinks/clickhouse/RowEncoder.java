package dev.sluice.sinks.clickhouse;

import com.clickhouse.data.format.BinaryStreamUtils;
import dev.sluice.sinks.RowsRejectedException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Encodes Flink's rows in ClickHouse's RowBinaryWithNamesAndTypes, each column by its pair of types
 * ({@link ColumnEncoders}). The server compares names and types with the table's: it refuses rows
 * for another table, instead of misreading their bytes.
 */
final class RowEncoder {
  private final byte[] header;
  private final ColumnEncoder[] columns;
  private int capacity = 1 << 12;

  RowEncoder(TableColumns table, RowType type) throws IOException {
    header = header(table);
    columns = new ColumnEncoder[table.columns().size()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = ColumnEncoders.of(type, table.positions().get(i), table.columns().get(i));
    }
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
   * @throws RowsRejectedException with the column, if it does not take a value
   * @throws ExactValue.WrongTypeException with the column, if it takes no values of this type
   */
  byte[] encode(List<BinaryRowData> rows) throws IOException, RowsRejectedException {
    RowBinaryBuffer out = new RowBinaryBuffer(capacity);
    out.write(header, 0, header.length);
    for (BinaryRowData row : rows) {
      for (ColumnEncoder column : columns) {
        column.encode(row, out);
      }
    }
    capacity = out.size() + out.size() / 8;
    return out.toByteArray();
  }
}
