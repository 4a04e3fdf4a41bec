package dev.sluice.flink;

import static dev.sluice.otlp.Metrics.gauge;
import static dev.sluice.otlp.Metrics.message;
import static dev.sluice.otlp.Metrics.point;
import static dev.sluice.otlp.Metrics.resource;
import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;

/** {@code resource_points} as the job's SQL calls it, on an embedded Flink. */
class ResourceMetricsTest {
  private static final byte[] MESSAGE =
      message(
          resource(
              List.of(
                  attribute("service.name", "shop"),
                  attribute("service.instance.id", "shop-1"),
                  attribute("host.name", "node-1")),
              gauge("hikaricp.connections.max", point(10, 1_000, attribute("pool", "db:5432/x"))),
              gauge("system.memory.bandwidth", point(7, 2_000)),
              gauge("hikaricp.connections.pending", point(-3, 3_000))));

  private static List<Row> rows(String column) throws Exception {
    StreamExecutionEnvironment stream = SharedCluster.environment(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables.getConfig().set("pipeline.global-job-parameters", new Fed().jobParameters("edge"));
    tables.createTemporarySystemFunction("resource_points", ResourceMetrics.class);
    Instant received = Instant.ofEpochMilli(MIDNIGHT_MS + 9_000);
    tables.createTemporaryView(
        "otlp_metrics",
        tables.fromDataStream(
            stream.fromData(Fed.MESSAGE, Row.of(MESSAGE, received, 0, 0L)), Fed.SCHEMA));
    String query =
        "SELECT d."
            + column
            + ".* FROM otlp_metrics AS s, LATERAL TABLE(resource_points(s.message, s.record_time,"
            + " s.`partition`)) AS d (part, pool, counted, rejected) WHERE d."
            + column
            + " IS NOT NULL";
    List<Row> rows = new ArrayList<>();
    try (CloseableIterator<Row> result = tables.executeSql(query).collect()) {
      result.forEachRemaining(rows::add);
    }
    return rows;
  }

  @Test
  void aFigureOfAPoolFillsTheColumnsOfItsTable() throws Exception {
    long atNs = (MIDNIGHT_MS + 1_000) * MS;
    assertThat(rows("pool"))
        .containsExactly(
            Row.of(
                "shop",
                "shop-1",
                "client",
                "db:5432/x",
                "db/x",
                "size",
                5,
                "hikaricp.connections.max pool=db:5432/x",
                "level",
                0L,
                Instant.ofEpochMilli(MIDNIGHT_MS),
                1L,
                10L,
                10L,
                10L,
                atNs,
                atNs));
  }

  @Test
  void theOtherColumnsHaveTheRest() throws Exception {
    assertThat(rows("part"))
        .extracting(row -> row.getField(0))
        .containsExactly("host_memory_bandwidth");
    assertThat(rows("counted"))
        .extracting(row -> row.getField(0))
        .containsExactlyInAnyOrder("accepted", "value_out_of_range");
    assertThat(rows("rejected"))
        .extracting(row -> row.getField(0))
        .containsExactly("value_out_of_range");
  }
}
