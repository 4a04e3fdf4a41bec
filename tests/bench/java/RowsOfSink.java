package dev.sluice.sinks;

import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;

/** The sink's own buffer, for {@code SinkLoop}, which is of another package. */
public final class RowsOfSink {
  private final RowBuffer buffer;

  public RowsOfSink(RowType type, int[] keyColumns) {
    buffer = new RowBuffer(type, keyColumns);
  }

  public void put(RowData row) {
    buffer.put(row);
  }

  public List<BinaryRowData> take() {
    return buffer.take();
  }

  public static Object[] plain(RowConverter converter, RowData row) {
    return converter.convert(row);
  }
}
