package dev.sluice.sinks.clickhouse;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the columns that the table lacks: in the log, and in the table rejected_rows with reason
 * {@code column_missing}, the column as key, and the number of rows that this writer has written
 * without it.
 */
final class MissingColumns {
  private static final Logger LOG = LoggerFactory.getLogger(MissingColumns.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long PERIOD_NS = 10_000_000_000L;

  private final ClickHouseServer server;
  private final String table;
  private final Map<String, Long> rows = new HashMap<>();
  private Long reportedAtNs; // null: it is to be reported now

  MissingColumns(ClickHouseServer server, String table) {
    this.server = server;
    this.table = table;
  }

  void written(List<String> missing, int count) {
    if (missing.isEmpty()) {
      rows.clear();
      reportedAtNs = null;
      return;
    }
    for (String column : missing) {
      if (rows.merge(column, (long) count, Long::sum) == count) {
        LOG.error("table {} has no column {}: rows are written without it", table, column);
        reportedAtNs = null;
      }
    }
    long nowNs = System.nanoTime();
    if (reportedAtNs == null || nowNs - reportedAtNs >= PERIOD_NS) {
      reportedAtNs = nowNs;
      report(missing);
    }
  }

  /** A failure does not stop the rows, because the report is repeated. */
  private void report(List<String> missing) {
    List<byte[]> lines = new ArrayList<>();
    try {
      for (String column : missing) {
        Map<String, Object> line = new HashMap<>();
        line.put("store", "clickhouse");
        line.put("table", table);
        line.put("reason", "column_missing");
        line.put("key", column);
        line.put("rows", rows.get(column));
        line.put("detail", "rows are written without it, since the table has no such column");
        lines.add(JSON.writeValueAsBytes(line));
      }
      server.insertJson("rejected_rows", lines);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOG.warn("count rows without {} of {}: {}", missing, table, e.toString());
    }
  }
}
