package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.Client;
import com.clickhouse.client.api.ServerException;
import com.clickhouse.client.api.insert.InsertResponse;
import com.clickhouse.client.api.insert.InsertSettings;
import com.clickhouse.client.api.query.GenericRecord;
import com.clickhouse.client.api.query.QuerySettings;
import com.clickhouse.data.ClickHouseFormat;
import dev.sluice.sinks.SettingException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One database of a ClickHouse server, over HTTP; of several copies the one that answered last.
 * Every call ends within seconds. For one thread.
 */
public final class ClickHouseServer implements AutoCloseable {
  private static final long TIMEOUT_S = 30;
  // Errors of a copy that is cut off from the others: too few live replicas, read only, the state
  // of an insert is unknown, Keeper does not answer.
  private static final Set<Integer> CUT_OFF = Set.of(242, 285, 319, 999);
  // Unknown user, or wrong or missing password, in all versions.
  private static final Set<Integer> LOGIN = Set.of(192, 193, 194, 516);
  private static final String NAME = "SLUICE_CLICKHOUSE";

  private final ClickHouseAddress address;
  private final Client[] clients;
  private int at;

  public ClickHouseServer(ClickHouseAddress address) {
    this.address = address;
    this.clients = new Client[address.urls().size()];
  }

  private Client client() throws SettingException {
    if (clients[at] == null) {
      Client.Builder builder =
          new Client.Builder()
              .addEndpoint(address.urls().get(at))
              .setUsername(address.username())
              .setPassword(address.password().read())
              .setDefaultDatabase(address.database())
              .setConnectTimeout(5, ChronoUnit.SECONDS)
              .setSocketTimeout(TIMEOUT_S, ChronoUnit.SECONDS)
              .setMaxRetries(0);
      SettingException.checkAuthority(NAME + "_CA", address.authority());
      if (!address.authority().isEmpty()) {
        builder.setRootCertificate(address.authority());
      }
      clients[at] = builder.build();
    }
    return clients[at];
  }

  public String database() {
    return address.database();
  }

  /**
   * Returns when the rows are stored, not when they are queued, because a checkpoint may depend on
   * them. After a failure the next attempt goes to the next copy.
   *
   * @param columns the columns of the body, as in its header
   * @param body in RowBinaryWithNamesAndTypes
   */
  void insert(String table, List<String> columns, byte[] body) throws Exception {
    insert(
        settings ->
            client()
                .insert(
                    table,
                    columns,
                    new ByteArrayInputStream(body),
                    ClickHouseFormat.RowBinaryWithNamesAndTypes,
                    settings));
  }

  /**
   * Inserts as {@link #insert}.
   *
   * @param rows JSON objects by column name
   */
  public void insertJson(String table, List<byte[]> rows) throws Exception {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (byte[] row : rows) {
      body.writeBytes(row);
      body.write('\n');
    }
    ByteArrayInputStream stream = new ByteArrayInputStream(body.toByteArray());
    insert(settings -> client().insert(table, stream, ClickHouseFormat.JSONEachRow, settings));
  }

  @FunctionalInterface
  private interface Insert {
    CompletableFuture<InsertResponse> send(InsertSettings settings) throws SettingException;
  }

  private void insert(Insert insert) throws Exception {
    InsertSettings settings =
        new InsertSettings()
            .serverSetting("async_insert", "0")
            .serverSetting("distributed_foreground_insert", "1");
    if (!address.insertQuorum().isEmpty()) {
      settings.serverSetting("insert_quorum", address.insertQuorum());
    }
    try {
      answered(insert.send(settings)).close();
    } catch (Exception e) {
      throw failed(e);
    }
  }

  /**
   * @param parameters of {@code {name:Type}} in the query
   * @throws IOException if the server refuses this process; the client's own exceptions otherwise
   */
  List<GenericRecord> query(String sql, Map<String, Object> parameters) throws IOException {
    try {
      return client().queryAll(sql, parameters, new QuerySettings());
    } catch (RuntimeException | IOException e) {
      if (failed(e) instanceof IOException setting) {
        throw setting;
      }
      throw e;
    }
  }

  /**
   * Makes the next call go to another copy, unless this one answered and the others would answer
   * alike. After a refused login it connects again, with the present password and authority.
   *
   * @return the exception to throw
   */
  private Exception failed(Exception e) {
    String url = address.urls().get(at);
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ServerException server && LOGIN.contains(server.getCode())) {
        forget();
        return SettingException.ofLogin(url, NAME, address.username(), address.password(), server);
      }
      if (cause instanceof ServerException server && !CUT_OFF.contains(server.getCode())) {
        return e;
      }
    }
    boolean untrusted = SettingException.isOfTls(e);
    if (untrusted) {
      forget();
    }
    at = (at + 1) % clients.length;
    return untrusted ? SettingException.ofTls(url, NAME + "_CA", address.authority(), e) : e;
  }

  private void forget() {
    if (clients[at] != null) {
      clients[at].close();
      clients[at] = null;
    }
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
    for (Client client : clients) {
      if (client != null) {
        client.close();
      }
    }
  }
}
