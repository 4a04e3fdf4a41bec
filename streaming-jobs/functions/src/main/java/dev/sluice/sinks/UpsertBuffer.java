package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rows that wait to be written: of rows with the same key only the last. */
final class UpsertBuffer {
  private final int[] keyColumns;
  private final Map<List<Object>, Object[]> rows = new LinkedHashMap<>();

  UpsertBuffer(int[] keyColumns) {
    this.keyColumns = keyColumns;
  }

  void put(Object[] row) {
    Object[] key = new Object[keyColumns.length];
    for (int i = 0; i < key.length; i++) {
      key[i] = row[keyColumns[i]];
    }
    rows.put(Arrays.asList(key), row);
  }

  int size() {
    return rows.size();
  }

  List<Object[]> rows() {
    return new ArrayList<>(rows.values());
  }

  void clear() {
    rows.clear();
  }
}
