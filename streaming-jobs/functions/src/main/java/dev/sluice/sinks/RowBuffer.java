package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * Rows that the store does not have yet, as Flink's bytes: of rows with the same key only the last.
 * A batch counts until it is {@link #done}.
 */
final class RowBuffer implements SinkStatus.Backlog {
  private final RowCopier copier;
  private final KeyColumns layout;
  private Map<Key, BinaryRowData> rows = new LinkedHashMap<>();
  // Metrics read them from other threads.
  private volatile int waiting;
  private volatile int inFlight;

  RowBuffer(RowType type, int[] keyColumns) {
    copier = new RowCopier(type);
    layout = new KeyColumns(type, keyColumns);
  }

  /** Keeps a copy: Flink reuses the row. */
  void put(RowData row) {
    BinaryRowData copy = copier.copy(row);
    rows.put(new Key(layout, copy), copy);
    waiting = rows.size();
  }

  /** Rows that are in no batch yet. */
  int waiting() {
    return waiting;
  }

  @Override
  public long rows() {
    return (long) waiting + inFlight;
  }

  /** A batch of all waiting rows. */
  List<BinaryRowData> take() {
    List<BinaryRowData> batch = new ArrayList<>(rows.values());
    inFlight = batch.size();
    rows = new LinkedHashMap<>();
    waiting = 0;
    return batch;
  }

  /** The store has the batch; for any thread. */
  void done() {
    inFlight = 0;
  }

  /** The key columns, and how they are compared: texts by their bytes, others as 64 bits. */
  private static final class KeyColumns {
    final int[] columns;
    final boolean[] texts;

    KeyColumns(RowType type, int[] columns) {
      this.columns = columns;
      texts = new boolean[columns.length];
      for (int i = 0; i < columns.length; i++) {
        LogicalType column = type.getTypeAt(columns[i]);
        texts[i] =
            switch (column.getTypeRoot()) {
              case CHAR, VARCHAR -> true;
              case BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT -> false;
              case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> wholeMs(column);
              default ->
                  throw new IllegalArgumentException(
                      "a key cannot have the type " + column.asSummaryString());
            };
      }
    }

    private static boolean wholeMs(LogicalType type) {
      if (LogicalTypeChecks.getPrecision(type) > 3) {
        throw new IllegalArgumentException("a time in a key must be of whole milliseconds");
      }
      return false;
    }

    long bits(BinaryRowData row, int column) {
      // Values of up to 8 bytes are in the fixed part of a row; unused bits are 0.
      return row.isNullAt(column) ? Long.MIN_VALUE : row.getLong(column);
    }
  }

  private static final class Key {
    private final KeyColumns layout;
    private final BinaryRowData row;
    private final int hash;

    Key(KeyColumns layout, BinaryRowData row) {
      this.layout = layout;
      this.row = row;
      int sum = 1;
      for (int i = 0; i < layout.columns.length; i++) {
        int column = layout.columns[i];
        int columnHash =
            layout.texts[i]
                ? row.getString(column).hashCode()
                : Long.hashCode(layout.bits(row, column));
        sum = 31 * sum + columnHash;
      }
      hash = sum;
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      if (!(other instanceof Key key) || key.hash != hash) {
        return false;
      }
      for (int i = 0; i < layout.columns.length; i++) {
        int column = layout.columns[i];
        boolean same =
            layout.texts[i]
                ? row.getString(column).equals(key.row.getString(column))
                : layout.bits(row, column) == layout.bits(key.row, column);
        if (!same) {
          return false;
        }
      }
      return true;
    }
  }
}
