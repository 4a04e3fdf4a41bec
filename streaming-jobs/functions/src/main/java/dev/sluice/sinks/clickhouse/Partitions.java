package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.RowConverter;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * Keeps an insert from spanning more partitions than the server takes (its setting {@code
 * max_partitions_per_insert_block}): the server would refuse an old replay that touches hundreds of
 * days for ever.
 *
 * <p>It groups rows by the columns of the partition key, and times by their day (UTC), which is at
 * least as fine as a key by day, week or month. For a finer key the server refuses the insert, and
 * the writer halves the batch.
 *
 * @param columns positions of the sink's columns in the key
 * @param most partitions an insert may span; 0 is any number
 */
record Partitions(List<Integer> columns, int most) {
  private static final long DAY_MS = 86_400_000;

  /**
   * @param key the expression in system.tables; empty for a table without partitions
   * @param sink names of the sink's columns
   */
  static Partitions of(String key, List<String> sink, int most) {
    List<Integer> columns = new ArrayList<>();
    for (int i = 0; i < sink.size(); i++) {
      if (Pattern.compile("(?<![\\w`])`?" + Pattern.quote(sink.get(i)) + "`?(?![\\w`(])")
          .matcher(key)
          .find()) {
        columns.add(i);
      }
    }
    return new Partitions(columns, most);
  }

  /**
   * The rows in as few groups as possible. The rows of one partition stay together, and the
   * partitions keep the order of their first rows.
   */
  <R extends RowData> List<List<R>> groups(List<R> rows, RowType type) {
    if (most <= 0 || columns.isEmpty() || spanFewDays(rows, type)) {
      return List.of(rows);
    }
    RowConverter converter = new RowConverter(type);
    List<RowConverter.Column> key = columns.stream().map(converter::column).toList();
    List<List<R>> groups = new ArrayList<>();
    Map<List<Object>, Integer> groupOf = new HashMap<>();
    for (R row : rows) {
      int group = groupOf.computeIfAbsent(partition(key, row), unused -> groupOf.size() / most);
      while (groups.size() <= group) {
        groups.add(new ArrayList<>());
      }
      groups.get(group).add(row);
    }
    return groups;
  }

  /** Whether the rows certainly span no more partitions than allowed; decided by times alone. */
  private boolean spanFewDays(List<? extends RowData> rows, RowType type) {
    int column = columns.get(0);
    if (columns.size() > 1
        || type.getTypeAt(column).getTypeRoot() != LogicalTypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE) {
      return false;
    }
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (RowData row : rows) {
      if (row.isNullAt(column)) {
        return false;
      }
      long ms = row.getTimestamp(column, 3).getMillisecond();
      first = Math.min(first, ms);
      last = Math.max(last, ms);
    }
    return Math.floorDiv(last, DAY_MS) - Math.floorDiv(first, DAY_MS) < most;
  }

  private static List<Object> partition(List<RowConverter.Column> key, RowData row) {
    List<Object> values = new ArrayList<>(key.size());
    for (RowConverter.Column column : key) {
      Object value = column.of(row);
      values.add(value instanceof ZonedDateTime time ? time.toLocalDate() : value);
    }
    return values;
  }
}
