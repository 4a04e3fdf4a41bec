package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands rows to a {@link BackgroundWriter}, and the unwritten ones to checkpoints. */
final class WriteBehindWriter implements StatefulSinkWriter<RowData, WaitingRows> {
  private static final Logger LOG = LoggerFactory.getLogger(WriteBehindWriter.class);
  private static final long END_OF_INPUT_MS = 30_000;
  // One element of the state; when the parallelism changes, Flink redistributes elements.
  private static final int ROWS_PER_PART = 1_000;

  private final List<String> columns;
  private final RowConverter converter;
  private final BackgroundWriter writer;
  private final List<AutoCloseable> closing;

  /**
   * @param closing resources to close after the writer, in this order
   */
  WriteBehindWriter(
      List<String> columns,
      RowConverter converter,
      BackgroundWriter writer,
      List<AutoCloseable> closing) {
    this.columns = columns;
    this.converter = converter;
    this.writer = writer;
    this.closing = closing;
  }

  /**
   * Restores the rows that waited at a checkpoint. Rows of a table with other columns are left out.
   */
  void restore(WaitingRows waiting) {
    if (waiting.columns().equals(columns)) {
      waiting.rows().forEach(writer::add);
    } else {
      LOG.warn(
          "{} rows of the checkpoint have columns {}, not {}: left out",
          waiting.rows().size(),
          waiting.columns(),
          columns);
    }
  }

  @Override
  public void write(RowData row, Context context) {
    if (row.getRowKind() == RowKind.INSERT || row.getRowKind() == RowKind.UPDATE_AFTER) {
      writer.add(converter.convert(row));
    }
  }

  /** A checkpoint does not wait: {@link #snapshotState} has the unwritten rows. */
  @Override
  public void flush(boolean endOfInput) throws InterruptedException {
    if (endOfInput && !writer.drain(END_OF_INPUT_MS)) {
      LOG.warn("{} rows are not written at the end of input", writer.unwritten().size());
    }
  }

  @Override
  public List<WaitingRows> snapshotState(long checkpointId) {
    List<Object[]> rows = writer.unwritten();
    List<WaitingRows> parts = new ArrayList<>();
    for (int from = 0; from < rows.size(); from += ROWS_PER_PART) {
      int to = Math.min(rows.size(), from + ROWS_PER_PART);
      parts.add(new WaitingRows(columns, rows.subList(from, to)));
    }
    return parts;
  }

  @Override
  public void close() throws Exception {
    writer.close();
    IOUtils.closeAll(closing);
  }
}
