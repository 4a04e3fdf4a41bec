package dev.sluice.sinks.rejects;

import com.clickhouse.data.ClickHouseFormat;
import dev.sluice.sinks.clickhouse.Server;
import java.io.ByteArrayOutputStream;
import java.util.List;

/** The table rejected_rows of storage/clickhouse. */
final class RejectedRowsTable implements RejectedRows.Lines {
  private static final String TABLE = "rejected_rows";

  private final Server server;

  RejectedRowsTable(RejectsOptions options) {
    server = new Server(options.clickhouse());
  }

  @Override
  public void write(List<byte[]> lines) throws Exception {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (byte[] line : lines) {
      body.writeBytes(line);
      body.write('\n');
    }
    server.insert(TABLE, List.of(), ClickHouseFormat.JSONEachRow, body.toByteArray());
  }

  @Override
  public void close() {
    server.close();
  }
}
