package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.ServerException;
import dev.sluice.sinks.BatchTarget;
import dev.sluice.sinks.Fault;
import dev.sluice.sinks.RowsRejectedException;
import dev.sluice.sinks.TableAtFaultException;
import java.io.IOException;
import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inserts batches by the names and types that the table has. Somebody may alter it at any time: the
 * target encodes rows that no longer fit for the present table before it refuses any.
 *
 * <ul>
 *   <li>Columns of the table that the sink does not write get their defaults.
 *   <li>The target leaves out a column of the sink that the table lacks. It logs the column, counts
 *       the rows in rejected_rows, and reads the table again at intervals.
 *   <li>A column that takes no values of the sink's type fails the job.
 * </ul>
 */
final class ClickHouseTarget implements BatchTarget<BinaryRowData> {
  private static final Logger LOG = LoggerFactory.getLogger(ClickHouseTarget.class);
  // After an ALTER between reading and writing, the target tries again; more ALTERs are an error.
  private static final int READINGS = 10;
  private static final long LOOK_AGAIN_MS = 10_000;

  private final ClickHouseServer server;
  private final String table;
  private final RowType type;
  private final MissingColumns missing;
  // Read at the first write, when the server must be reachable anyway.
  private TableColumns columns;
  private RowEncoder encoder;
  private long readAtNs;

  ClickHouseTarget(ClickHouseOptions options, RowType type) {
    this.server = new ClickHouseServer(options.address());
    this.table = options.table();
    this.type = type;
    this.missing = new MissingColumns(server, table);
  }

  @Override
  public void write(List<BinaryRowData> rows) throws Exception {
    if (columns == null || (!columns.missing().isEmpty() && isOld())) {
      read();
    }
    for (int reading = 1; ; reading++) {
      try {
        for (List<BinaryRowData> group : columns.partitions().groups(rows, type)) {
          insert(group);
        }
        missing.written(columns.missing(), rows.size());
        return;
      } catch (MisfitException e) {
        TableColumns before = columns;
        read();
        if (columns.sameAs(before)) {
          throw e.refusal();
        }
        if (reading == READINGS) {
          throw new IOException(table + " is altered faster than it is read", e);
        }
        LOG.warn("{} was altered, writing to it as it is now: {}", table, e.getMessage());
      }
    }
  }

  private boolean isOld() {
    return System.nanoTime() - readAtNs > LOOK_AGAIN_MS * 1_000_000;
  }

  private void read() throws IOException {
    TableColumns present = TableColumns.read(server, table, type.getFieldNames());
    if (present.positions().isEmpty()) {
      throw new TableAtFaultException(
          "table " + table + " has none of " + type.getFieldNames(), null);
    }
    encoder = new RowEncoder(present, type);
    columns = present;
    readAtNs = System.nanoTime();
  }

  /** Either the rows or the table are at fault: the present table decides. */
  private static final class MisfitException extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient Exception refusal;

    MisfitException(Exception refusal) {
      super(refusal.getMessage(), refusal);
      this.refusal = refusal;
    }

    /** The exception for a table that did not change. */
    Exception refusal() {
      return refusal;
    }
  }

  private void insert(List<BinaryRowData> rows) throws Exception {
    byte[] body;
    try {
      body = encoder.encode(rows);
    } catch (ExactValue.WrongTypeException e) {
      throw new MisfitException(
          new TableAtFaultException("table " + table + ": " + e.getMessage(), e));
    } catch (RowsRejectedException e) {
      throw new MisfitException(e);
    }
    try {
      server.insert(table, columns.names(), body);
    } catch (Exception e) {
      throw classified(e);
    }
  }

  private Exception classified(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ServerException answer) {
        Fault fault = ClickHouseFault.of(answer);
        Exception refusal = fault.exception("insert into " + table + ": " + answer.getMessage(), e);
        return switch (fault) {
          case SCHEMA, DATA -> new MisfitException(refusal);
          case SIZE, PASSING -> refusal;
        };
      }
    }
    return e;
  }

  @Override
  public void close() {
    server.close();
  }
}
