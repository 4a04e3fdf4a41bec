package dev.sluice.sinks;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * Upserts into a {@link BatchTarget} that must not stop the job. Rows wait in memory, within {@link
 * BufferBounds}, and a checkpoint holds the waiting rows instead of waiting for the store. At least
 * once from Flink and, as writing a row again changes nothing, exactly once in effect, except for
 * rows that are shed for want of room.
 */
public final class WriteBehindSink
    implements Sink<RowData>, SupportsWriterState<RowData, WaitingRows> {
  private static final long serialVersionUID = 1L;
  private static final long MOST_BACKOFF_MS = 10_000;
  private static final LongSupplier CLOCK = System::currentTimeMillis;
  private static final Set<LogicalTypeRoot> TYPES =
      Set.of(
          LogicalTypeRoot.BOOLEAN,
          LogicalTypeRoot.INTEGER,
          LogicalTypeRoot.BIGINT,
          LogicalTypeRoot.DOUBLE,
          LogicalTypeRoot.CHAR,
          LogicalTypeRoot.VARCHAR);

  /** A further task that the first of the parallel writers runs for its lifetime. */
  public interface Companion extends Serializable {
    AutoCloseable start(MetricGroup metrics);
  }

  private final SinkTable<Object[]> table;
  private final List<String> columns;
  private final RowConverter converter;
  private final int orderColumn;
  private final FlushPolicy policy;
  private final BufferBounds bounds;
  private final Companion companion;

  /**
   * @param newestBy a BIGINT column of the key: of rows that differ only in it, the one with the
   *     largest value is the newest; "" if the last one is
   * @param companion null for none
   */
  public WriteBehindSink(
      SinkTable<Object[]> table,
      String newestBy,
      FlushPolicy policy,
      BufferBounds bounds,
      Companion companion) {
    this.table = table;
    this.columns = List.copyOf(table.type().getFieldNames());
    this.converter = new RowConverter(table.type());
    this.orderColumn = newestBy.isEmpty() ? -1 : columns.indexOf(newestBy);
    this.policy = policy;
    this.bounds = bounds;
    this.companion = companion;
    check(table.type(), newestBy);
  }

  private void check(RowType type, String newestBy) {
    for (RowType.RowField field : type.getFields()) {
      if (!TYPES.contains(field.getType().getTypeRoot())) {
        throw RowConverter.unsupported(field.getType(), field.getName());
      }
    }
    if (!newestBy.isEmpty()
        && (orderColumn < 0
            || type.getTypeAt(orderColumn).isNullable()
            || type.getTypeAt(orderColumn).getTypeRoot() != LogicalTypeRoot.BIGINT)) {
      throw new ValidationException("Column " + newestBy + " must be a BIGINT NOT NULL");
    }
  }

  @Override
  public StatefulSinkWriter<RowData, WaitingRows> createWriter(WriterInitContext context) {
    return restoreWriter(context, List.of());
  }

  @Override
  public StatefulSinkWriter<RowData, WaitingRows> restoreWriter(
      WriterInitContext context, Collection<WaitingRows> waiting) {
    int[] subject = IntStream.of(table.keyColumns()).filter(i -> i != orderColumn).toArray();
    PendingRows pending = new PendingRows(subject, orderColumn, bounds);
    SinkStatus status = new SinkStatus(context.metricGroup(), table.store(), pending, CLOCK);
    BatchWriter<Object[]> batches = table.open(Function.identity(), MOST_BACKOFF_MS, status);
    List<AutoCloseable> closing = new ArrayList<>(List.of(batches));
    if (companion != null && context.getTaskInfo().getIndexOfThisSubtask() == 0) {
      closing.add(companion.start(context.metricGroup()));
    }
    String thread = "write to " + table.store();
    BackgroundWriter background =
        new BackgroundWriter(thread, pending, batches::writeOrGiveUp, policy, CLOCK);
    WriteBehindWriter writer = new WriteBehindWriter(columns, converter, background, closing);
    waiting.forEach(writer::restore);
    return writer;
  }

  @Override
  public SimpleVersionedSerializer<WaitingRows> getWriterStateSerializer() {
    return new WaitingRowsSerializer();
  }
}
