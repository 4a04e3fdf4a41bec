package dev.sluice.sinks;

import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Upserts into a {@link BatchTarget}: at least once from Flink, and exactly once in effect, because
 * writing a row again changes nothing and an older row never replaces a newer one there. Keeps no
 * state: a checkpoint completes only after the store has all rows before it.
 */
public final class UpsertSink implements Sink<RowData> {
  private static final long serialVersionUID = 1L;
  private static final long MOST_BACKOFF_MS = 1_000;

  private final SinkTable<BinaryRowData> table;
  private final RowConverter converter;
  private final FlushPolicy policy;

  public UpsertSink(SinkTable<BinaryRowData> table, FlushPolicy policy) {
    this.table = table;
    this.converter = new RowConverter(table.type());
    this.policy = policy;
  }

  @Override
  public SinkWriter<RowData> createWriter(WriterInitContext context) {
    RowBuffer buffer = new RowBuffer(table.type(), table.keyColumns());
    SinkStatus status =
        new SinkStatus(context.metricGroup(), table.store(), buffer, System::currentTimeMillis);
    return new UpsertSinkWriter(
        table.store(),
        buffer,
        table.open(converter::convert, MOST_BACKOFF_MS, status),
        policy,
        context.getProcessingTimeService(),
        context.getMailboxExecutor());
  }
}
