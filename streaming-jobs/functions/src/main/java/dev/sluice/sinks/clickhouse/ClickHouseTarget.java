package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.Client;
import com.clickhouse.client.api.ServerException;
import com.clickhouse.client.api.insert.InsertResponse;
import com.clickhouse.client.api.insert.InsertSettings;
import com.clickhouse.client.api.metadata.TableSchema;
import com.clickhouse.data.ClickHouseColumn;
import com.clickhouse.data.ClickHouseFormat;
import dev.sluice.sinks.BatchTarget;
import dev.sluice.sinks.RowsRejectedException;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Inserts batches in RowBinary, with the columns' types as the server's table has them. Columns
 * that the sink table does not name get their defaults.
 */
final class ClickHouseTarget implements BatchTarget {
  private static final long TIMEOUT_S = 30;

  private final Client client;
  private final String table;
  private final List<String> columns;
  // Read at the first write, when the server must be up anyway.
  private RowEncoder encoder;

  ClickHouseTarget(ClickHouseOptions options, List<String> columns) {
    this.table = options.table();
    this.columns = columns;
    this.client =
        new Client.Builder()
            .addEndpoint(options.url())
            .setUsername(options.username())
            .setPassword(options.password())
            .setDefaultDatabase(options.database())
            .setConnectTimeout(5, java.time.temporal.ChronoUnit.SECONDS)
            .setSocketTimeout(TIMEOUT_S, java.time.temporal.ChronoUnit.SECONDS)
            .setMaxRetries(0)
            .build();
  }

  @Override
  public void write(List<Object[]> rows) throws Exception {
    if (encoder == null) {
      encoder = new RowEncoder(columnsOf(client.getTableSchema(table)));
    }
    byte[] body = encode(rows);
    // A checkpoint rests on this insert: answer when the rows are stored, not when they are queued.
    InsertSettings settings = new InsertSettings().serverSetting("async_insert", "0");
    try (InsertResponse response =
        client
            .insert(
                table,
                columns,
                new ByteArrayInputStream(body),
                ClickHouseFormat.RowBinary,
                settings)
            .get(TIMEOUT_S, TimeUnit.SECONDS)) {
      // Only the status matters.
    } catch (ExecutionException e) {
      throw classify(e.getCause() instanceof Exception cause ? cause : e);
    } catch (RuntimeException e) {
      throw classify(e);
    }
  }

  private List<ClickHouseColumn> columnsOf(TableSchema whole) {
    List<ClickHouseColumn> chosen = new ArrayList<>();
    for (String column : columns) {
      chosen.add(whole.getColumnByName(column));
    }
    return chosen;
  }

  private byte[] encode(List<Object[]> rows) throws RowsRejectedException {
    try {
      return encoder.encode(rows);
    } catch (Exception e) {
      throw new RowsRejectedException("encode row for table " + table + ": " + e, e);
    }
  }

  /** Tells apart what would fail for ever from what may pass. */
  private Exception classify(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ServerException server && DataErrors.isFaultOfData(server.getCode())) {
        return new RowsRejectedException("insert into " + table + ": " + server.getMessage(), e);
      }
    }
    encoder = null; // the table may be another one when the server is back
    return e;
  }

  @Override
  public void close() {
    client.close();
  }
}
