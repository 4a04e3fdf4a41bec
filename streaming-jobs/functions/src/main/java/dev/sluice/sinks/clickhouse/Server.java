package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.Client;
import com.clickhouse.client.api.insert.InsertResponse;
import com.clickhouse.client.api.insert.InsertSettings;
import com.clickhouse.client.api.query.GenericRecord;
import com.clickhouse.client.api.query.QuerySettings;
import com.clickhouse.data.ClickHouseFormat;
import java.io.ByteArrayInputStream;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** One database of a ClickHouse server, asked over HTTP; every call ends within seconds. */
public final class Server implements AutoCloseable {
  private static final long TIMEOUT_S = 30;

  private final Client client;
  private final String database;

  public Server(String url, String database, String username, String password) {
    this.database = database;
    this.client =
        new Client.Builder()
            .addEndpoint(url)
            .setUsername(username)
            .setPassword(password)
            .setDefaultDatabase(database)
            .setConnectTimeout(5, ChronoUnit.SECONDS)
            .setSocketTimeout(TIMEOUT_S, ChronoUnit.SECONDS)
            .setMaxRetries(0)
            .build();
  }

  public String database() {
    return database;
  }

  /**
   * Returns when the rows are stored, not when they are queued: a checkpoint may rest on them.
   *
   * @param columns those that the body has, or none: as the format says
   */
  public void insert(String table, List<String> columns, ClickHouseFormat format, byte[] body)
      throws Exception {
    InsertSettings settings = new InsertSettings().serverSetting("async_insert", "0");
    ByteArrayInputStream stream = new ByteArrayInputStream(body);
    CompletableFuture<InsertResponse> answer =
        columns.isEmpty()
            ? client.insert(table, stream, format, settings)
            : client.insert(table, columns, stream, format, settings);
    answered(answer).close();
  }

  /**
   * @param parameters of {@code {name:Type}} in the query
   */
  List<GenericRecord> query(String sql, Map<String, Object> parameters) {
    return client.queryAll(sql, parameters, new QuerySettings());
  }

  private static <T> T answered(CompletableFuture<T> answer) throws Exception {
    try {
      return answer.get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
