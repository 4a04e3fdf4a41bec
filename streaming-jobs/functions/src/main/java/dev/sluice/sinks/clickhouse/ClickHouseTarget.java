package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.ServerException;
import com.clickhouse.data.ClickHouseFormat;
import dev.sluice.sinks.DirectTarget;
import dev.sluice.sinks.RowsRejectedException;
import dev.sluice.sinks.TableAtFaultException;
import dev.sluice.sinks.TooLargeException;
import java.io.IOException;
import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inserts batches by the names and types that the table has. It may be altered at any time: rows
 * that no longer fit are encoded again for the present table before any row is refused.
 *
 * <ul>
 *   <li>Columns of the table that the sink does not write get their defaults.
 *   <li>A column of the sink that the table does not have (any more) is left out, which is logged
 *       and counted in rejected_rows; while one is missing, the table is read again at intervals.
 *   <li>A column that takes no values of the sink's type fails the job.
 * </ul>
 */
final class ClickHouseTarget implements DirectTarget {
  private static final Logger LOG = LoggerFactory.getLogger(ClickHouseTarget.class);
  // An ALTER between reading and writing is met by another attempt; more of them are an error.
  private static final int READINGS = 10;
  private static final long LOOK_AGAIN_MS = 10_000;

  private final Server server;
  private final String table;
  private final RowType type;
  private final LeftOut leftOut;
  // Read at the first write, when the server must be reachable anyway.
  private TableColumns columns;
  private RowEncoder encoder;
  private DirectEncoder direct;
  private long readAtMs;

  ClickHouseTarget(ClickHouseOptions options, RowType type) {
    this.server = new Server(options.address());
    this.table = options.table();
    this.type = type;
    this.leftOut = new LeftOut(server, table);
  }

  @Override
  public void write(List<Object[]> rows) throws Exception {
    if (columns == null || (!columns.missing().isEmpty() && isOld())) {
      read();
    }
    for (int reading = 1; ; reading++) {
      try {
        for (List<Object[]> group : columns.partitions().groups(rows)) {
          insert(group);
        }
        leftOut.written(columns.missing(), rows.size());
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

  /** For an unchanged table; any other is for {@link #write}. */
  @Override
  public boolean writeDirect(List<BinaryRowData> rows) throws Exception {
    if (columns == null || !columns.missing().isEmpty()) {
      return false;
    }
    if (!columns.partitions().takeAtOnce(rows, type)) {
      return false;
    }
    byte[] body;
    try {
      body = direct.encode(rows);
    } catch (ExactValue.WrongTypeException e) {
      return false;
    }
    try {
      send(body);
    } catch (MisfitException e) {
      return false;
    }
    leftOut.written(columns.missing(), rows.size());
    return true;
  }

  private boolean isOld() {
    return System.currentTimeMillis() - readAtMs > LOOK_AGAIN_MS;
  }

  private void read() throws IOException {
    TableColumns found = TableColumns.read(server, table, type.getFieldNames());
    if (found.positions().isEmpty()) {
      throw new TableAtFaultException(
          "table " + table + " has none of " + type.getFieldNames(), null);
    }
    encoder = new RowEncoder(found);
    direct = new DirectEncoder(found, type);
    columns = found;
    readAtMs = System.currentTimeMillis();
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

  private void insert(List<Object[]> rows) throws Exception {
    byte[] body;
    try {
      body = encoder.encode(rows);
    } catch (ExactValue.WrongTypeException e) {
      throw new MisfitException(tableAtFault(e.getMessage(), e));
    } catch (RowsRejectedException e) {
      throw new MisfitException(e);
    }
    send(body);
  }

  private void send(byte[] body) throws Exception {
    try {
      server.insert(table, columns.names(), ClickHouseFormat.RowBinaryWithNamesAndTypes, body);
    } catch (Exception e) {
      throw classify(e);
    }
  }

  /** Distinguishes a failure that would last for ever from one that may pass. */
  private Exception classify(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ServerException server) {
        String answer = "insert into " + table + ": " + server.getMessage();
        return switch (Refusal.of(server)) {
          case SCHEMA -> new MisfitException(tableAtFault(server.getMessage(), e));
          case DATA -> new MisfitException(new RowsRejectedException(answer, e));
          case SIZE -> new TooLargeException(answer, e);
          case PASSING -> e;
        };
      }
    }
    return e;
  }

  private TableAtFaultException tableAtFault(String why, Exception cause) {
    return new TableAtFaultException("table " + table + ": " + why, cause);
  }

  @Override
  public void close() {
    server.close();
  }
}
