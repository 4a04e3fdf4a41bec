package dev.sluice.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.paths.PathTotals;
import dev.sluice.paths.ServiceTime;
import dev.sluice.paths.ServiceTotals;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The aggregates as SQL calls them, on an embedded Flink. */
class PathSumsTest {
  /** Three traces, each the totals of one. */
  private static String paths() {
    return row(1, new PathTotalsSerializer().toBytes(path(10, 1)))
        + row(2, new PathTotalsSerializer().toBytes(path(70, 2)))
        + lastRow(1, new PathTotalsSerializer().toBytes(path(30, 3)));
  }

  private static PathTotals path(long ns, int id) {
    byte[] traceId = new byte[16];
    traceId[15] = (byte) id;
    PathTotals totals = new PathTotals();
    totals.add(ns, traceId);
    return totals;
  }

  private static byte[] service(long... ns) {
    ServiceTotals totals = new ServiceTotals();
    totals.add(new ServiceTime("", ns[0], ns[1], ns[2], ns[3], ns[4]), ns[5]);
    return new ServiceTotalsSerializer().toBytes(totals);
  }

  private static String row(int key, byte[] totals) {
    return lastRow(key, totals) + ", ";
  }

  private static String lastRow(int key, byte[] totals) {
    return "(" + key + ", x'" + HexFormat.of().formatHex(totals) + "')";
  }

  private static StreamTableEnvironment tables(boolean miniBatch) {
    StreamTableEnvironment tables = StreamTableEnvironment.create(SharedCluster.environment(1));
    tables.getConfig().set("table.exec.mini-batch.enabled", String.valueOf(miniBatch));
    tables.getConfig().set("table.exec.mini-batch.allow-latency", "100 ms");
    tables.getConfig().set("table.exec.mini-batch.size", "2");
    tables.createTemporarySystemFunction("sum_paths", SumPaths.class);
    tables.createTemporarySystemFunction("sum_service_times", SumServiceTimes.class);
    return tables;
  }

  /** The last row of each key, which is the first column. */
  private static Map<Object, Row> upserted(StreamTableEnvironment tables, String query)
      throws Exception {
    Map<Object, Row> rows = new HashMap<>();
    try (CloseableIterator<Row> changes = tables.executeSql(query).collect()) {
      while (changes.hasNext()) {
        Row row = changes.next();
        if (row.getKind() == RowKind.INSERT || row.getKind() == RowKind.UPDATE_AFTER) {
          row.setKind(RowKind.INSERT);
          rows.put(row.getField(0), row);
        }
      }
    }
    return rows;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void paths(boolean miniBatch) throws Exception {
    String zeros = "00".repeat(15);
    Map<Object, Row> rows =
        upserted(
            tables(miniBatch),
            "SELECT k, s.traces, s.sum_ns, s.sum_ns2, s.latency, s.slowest_ns,"
                + " s.slowest_trace_id, s.median_trace_id FROM (SELECT k, sum_paths(t) AS s"
                + " FROM (SELECT CAST(k AS INT) AS k, CAST(t AS BYTES) AS t FROM (VALUES "
                + paths()
                + ") AS v (k, t)) GROUP BY k)");
    // log2(10) * 64 = 212.6, log2(30) * 64 = 314.04, log2(70) * 64 = 392.3: rounded up, less one.
    assertThat(rows)
        .isEqualTo(
            Map.of(
                1,
                Row.of(
                    1,
                    2L,
                    40L,
                    new BigDecimal(1_000),
                    Map.of((short) 212, 1, (short) 314, 1),
                    30L,
                    zeros + "03",
                    zeros + "01"),
                2,
                Row.of(
                    2,
                    1L,
                    70L,
                    new BigDecimal(4_900),
                    Map.of((short) 392, 1),
                    70L,
                    zeros + "02",
                    zeros + "02")));
  }

  @Test
  void serviceTimes() throws Exception {
    Map<Object, Row> rows =
        upserted(
            tables(true),
            "SELECT k, s.traces, s.self_sum, s.self_sum2, s.e2e_sum, s.e2e_sum2, s.self_x_e2e,"
                + " s.upstream_sum, s.upstream_sum2, s.call_upstream_sum, s.wait_sum, s.blame_sum,"
                + " s.blame_sum2, s.blame_x_e2e, s.self_latency, s.upstream_latency,"
                + " s.call_upstream_latency, s.blame_latency"
                + " FROM (SELECT k, sum_service_times(t) AS s FROM (SELECT CAST(k AS INT) AS k,"
                + " CAST(t AS BYTES) AS t FROM (VALUES "
                + row(1, service(1, 2, 1, 5, 3, 10))
                + row(1, service(2, 0, 0, 7, 1, 30))
                + lastRow(1, service(3, 2, 2, 9, 2, 20))
                + ") AS v (k, t)) GROUP BY k)");
    assertThat(rows)
        .isEqualTo(
            Map.of(
                1,
                Row.of(
                    1,
                    3L,
                    6L,
                    new BigDecimal(14),
                    60L,
                    new BigDecimal(1_400),
                    new BigDecimal(130),
                    4L,
                    new BigDecimal(8),
                    3L,
                    21L,
                    6L,
                    new BigDecimal(14),
                    new BigDecimal(30 + 30 + 40),
                    Map.of((short) -1, 1, (short) 63, 1, (short) 101, 1),
                    Map.of((short) -1, 1, (short) 63, 2),
                    Map.of((short) -1, 2, (short) 63, 1),
                    Map.of((short) -1, 1, (short) 63, 1, (short) 101, 1))));
  }
}
