package dev.sluice.sinks.rejects;

import dev.sluice.sinks.clickhouse.ClickHouseServer;
import java.util.List;

/** The table rejected_rows of storage/clickhouse. */
final class RejectedRowsTable implements RejectedRows.Lines {
  private static final String NAME = "rejected_rows";

  private final ClickHouseServer server;

  RejectedRowsTable(RejectsOptions options) {
    server = new ClickHouseServer(options.clickhouse());
  }

  @Override
  public void write(List<byte[]> lines) throws Exception {
    server.insertJson(NAME, lines);
  }

  @Override
  public void close() {
    server.close();
  }
}
