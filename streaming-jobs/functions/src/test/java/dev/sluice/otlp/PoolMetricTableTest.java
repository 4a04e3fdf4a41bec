package dev.sluice.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.StringReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoolMetricTableTest {
  private static final String HEADER = "figure,side,rank,metric,unit,attribute,pool,source\n";

  private static PoolMetricTable parse(String lines) {
    return PoolMetricTable.parse(new BufferedReader(new StringReader(HEADER + lines)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "db.client.connection.limit",
        "db.client.connection.max",
        "db.client.connections.max",
        "hikaricp.connections.max",
        "jdbc.connections.max",
        "db.sql.connection.max_open",
        "go.sql.connections_max_open",
        "pgxpool.max_connections",
        "tomcat.db.client.connection.limit",
        "tomcat.thread.limit",
        "tomcat.threads.config.max",
        "jetty.thread.limit",
        "jetty.threads.config.max",
        "jvm.executor.thread.max",
        "executor.pool.max",
      })
  void theShippedTableHasTheSizesOf(String metric) {
    assertThat(PoolMetricTable.load().find(metric))
        .singleElement()
        .extracting(PoolMetricTable.Entry::figure)
        .isEqualTo(PoolFigure.SIZE);
  }

  @Test
  void noMetricIsOfBothTables() {
    assertThat(PoolMetricTable.load().find("container.cpu.usage")).isEmpty();
    assertThat(MetricTable.load().find("db.client.connection.max")).isNull();
  }

  @Test
  void oneMetricHasSeveralFiguresByItsAttributes() {
    PoolMetricTable table =
        parse("used,client,1,open,,state=used,a|b,x\nidle,client,1,open,,state=idle,a|b,x\n");
    assertThat(table.find("open"))
        .extracting(PoolMetricTable.Entry::figure)
        .containsExactly(PoolFigure.USED, PoolFigure.IDLE);
    assertThat(table.find("open").get(0).poolNames()).containsExactly("a", "b");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "size,client,1,max,,,,x|size,client,2,max,,,,y; max",
        "size,client,1,max,s,,,x; unit",
        "wait_time,client,1,wait,,,,x; unit",
        "weight,client,1,max,,,,x; WEIGHT",
        "size,middle,1,max,,,,x; MIDDLE",
      })
  void aBadLineIsAnError(String lines, String named) {
    assertThatThrownBy(() -> parse(lines.replace('|', '\n') + "\n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named);
  }
}
