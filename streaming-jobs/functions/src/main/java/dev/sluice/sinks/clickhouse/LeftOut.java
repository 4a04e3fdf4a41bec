package dev.sluice.sinks.clickhouse;

import com.clickhouse.data.ClickHouseFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the columns that the table lacks, and that rows are written without: in the log, and in
 * the table rejected_rows with reason {@code column_missing}, the column as key, and the number of
 * rows that this writer has written without it.
 */
final class LeftOut {
  private static final Logger LOG = LoggerFactory.getLogger(LeftOut.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long PERIOD_MS = 10_000;

  private final Server server;
  private final String table;
  private final Map<String, Long> rows = new HashMap<>();
  private long saidAtMs;

  LeftOut(Server server, String table) {
    this.server = server;
    this.table = table;
  }

  void written(List<String> missing, int count) {
    if (missing.isEmpty()) {
      rows.clear();
      saidAtMs = 0;
      return;
    }
    for (String column : missing) {
      if (rows.merge(column, (long) count, Long::sum) == count) {
        LOG.error("table {} has no column {}: rows are written without it", table, column);
        saidAtMs = 0;
      }
    }
    long now = System.currentTimeMillis();
    if (now - saidAtMs >= PERIOD_MS) {
      saidAtMs = now;
      say(missing);
    }
  }

  /** A failure does not stop the rows, because the report is repeated. */
  private void say(List<String> missing) {
    List<String> lines = new ArrayList<>();
    try {
      for (String column : missing) {
        lines.add(
            JSON.writeValueAsString(
                Map.of(
                    "store",
                    "clickhouse",
                    "table",
                    table,
                    "reason",
                    "column_missing",
                    "key",
                    column,
                    "rows",
                    rows.get(column),
                    "detail",
                    "rows are written without it, since the table has no such column")));
      }
      byte[] body = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
      server.insert("rejected_rows", List.of(), ClickHouseFormat.JSONEachRow, body);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOG.warn("count rows without {} of {}: {}", missing, table, e.toString());
    }
  }
}
