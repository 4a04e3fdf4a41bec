package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.RowsRejectedException;
import java.io.IOException;
import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Encodes Flink's rows in ClickHouse's RowBinaryWithNamesAndTypes, each column by its pair of types
 * and without values in between. {@link RowEncoder} encodes a column without such a pair.
 */
final class DirectEncoder {
  private final byte[] header;
  private final DirectCell[] cells;
  private int capacity = 1 << 12;

  DirectEncoder(TableColumns table, RowType type) throws IOException {
    header = RowEncoder.header(table);
    cells = new DirectCell[table.columns().size()];
    for (int i = 0; i < cells.length; i++) {
      cells[i] = DirectCells.of(type, table.positions().get(i), table.columns().get(i));
    }
  }

  /**
   * @throws RowsRejectedException with the column, if it does not take a value
   * @throws ExactValue.WrongTypeException with the column, if it takes no values of this type
   */
  byte[] encode(List<BinaryRowData> rows) throws IOException, RowsRejectedException {
    Bytes out = new Bytes(capacity);
    out.write(header, 0, header.length);
    for (BinaryRowData row : rows) {
      for (DirectCell cell : cells) {
        cell.write(row, out);
      }
    }
    capacity = out.size() + out.size() / 8;
    return out.toByteArray();
  }
}
