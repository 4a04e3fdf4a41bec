import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.TableEnvironment;

/**
 * The jobs' sink under load, in a Flink cluster of this process with checkpoints and restarts: rows
 * 1, 2, ... into the table {@code windows} (to 100,000) until it is killed, 0.1 s from row to row; and rows 1 to
 * 250 into {@code windows_of_days}, a day from row to row, all of them in one batch.
 *
 * <p>Arguments: address, user and password of ClickHouse, rows per second, time of row 0 in ms. Row n has n
 * completions, n mod 7 errors, busy_ns 1000 n and one cell of latency, n at n mod 1000.
 */
public final class SequenceToWindows {
  private static final String SOURCE =
      """
      CREATE TEMPORARY TABLE %s (n BIGINT) WITH (
        'connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1',
        'fields.n.end' = '%s', 'rows-per-second' = '%s')""";
  // Nothing listens on port 1: no row of this is one to set aside.
  private static final String SINK =
      """
      CREATE TEMPORARY TABLE %1$s (
        side STRING NOT NULL, service STRING NOT NULL, peer STRING NOT NULL,
        instance STRING NOT NULL, bucket TIMESTAMP_LTZ(3) NOT NULL, bucket_ms INT NOT NULL,
        busy_ns BIGINT NOT NULL, completions BIGINT NOT NULL, errors BIGINT NOT NULL,
        latency MAP<SMALLINT, INT>, version BIGINT NOT NULL,
        PRIMARY KEY (side, service, peer, instance, bucket) NOT ENFORCED
      ) WITH (
        'connector' = 'clickhouse', 'url' = '%2$s', 'table' = '%1$s', 'username' = '%3$s',
        'password' = '%4$s', 'sink.buffer-flush.interval' = '%5$s',
        'rejects.kafka' = '127.0.0.1:1', 'rejects.clickhouse.url' = '%2$s')""";
  private static final String INSERT =
      """
      INSERT INTO %s
      SELECT 'server', 'load', '', 'one', TO_TIMESTAMP_LTZ(%s + n * %s, 3), 100, n * 1000, n,
             MOD(n, 7), MAP[CAST(MOD(n, 1000) AS SMALLINT), CAST(n AS INT)], 1
      FROM %s""";

  private SequenceToWindows() {}

  private static String sink(String table, String[] clickhouse, String flush) {
    return SINK.formatted(table, clickhouse[0], clickhouse[1], clickhouse[2], flush);
  }

  public static void main(String[] arguments) throws Exception {
    String[] clickhouse = {arguments[0], arguments[1], arguments[2]};
    String rowsPerSecond = arguments[3];
    String baseMs = arguments[4];
    Configuration configuration = new Configuration();
    configuration.setString("parallelism.default", "1");
    configuration.setString("execution.checkpointing.interval", "300 ms");
    configuration.setString("restart-strategy.type", "fixed-delay");
    configuration.setString("restart-strategy.fixed-delay.attempts", "2147483647");
    configuration.setString("restart-strategy.fixed-delay.delay", "200 ms");
    configuration.setString("table.local-time-zone", "UTC");
    configuration.setString("table.exec.sink.upsert-materialize", "NONE"); // as run.py
    TableEnvironment environment =
        TableEnvironment.create(
            EnvironmentSettings.newInstance().withConfiguration(configuration).build());
    environment.executeSql(SOURCE.formatted("steps", "100000", rowsPerSecond));
    environment.executeSql(SOURCE.formatted("days", "250", "1000"));
    environment.executeSql(sink("windows", clickhouse, "50 ms"));
    environment.executeSql(sink("windows_of_days", clickhouse, "10 s"));
    StatementSet statements = environment.createStatementSet();
    statements.addInsertSql(INSERT.formatted("windows", baseMs, "100", "steps"));
    statements.addInsertSql(INSERT.formatted("windows_of_days", baseMs, "86400000", "days"));
    statements.execute().await();
  }
}
