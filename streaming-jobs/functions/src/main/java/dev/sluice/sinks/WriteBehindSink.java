package dev.sluice.sinks;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
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
  private static final long BACKOFF_FIRST_MS = 100;
  private static final long BACKOFF_MAX_MS = 10_000;
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

  private final UpsertSink.TargetFactory targets;
  private final UpsertSink.RejectsFactory rejects;
  private final String store;
  private final List<String> columns;
  private final RowConverter converter;
  private final int[] keyColumns;
  private final int orderColumn;
  private final FlushPolicy policy;
  private final BufferBounds bounds;
  private final Companion companion;

  /**
   * @param store its name for people; without secrets
   * @param key columns that identify a row's subject
   * @param newestBy a BIGINT column: of rows with the same key the one with the largest value is
   *     the newest; "" where it is the last one
   */
  public WriteBehindSink(
      UpsertSink.TargetFactory targets,
      UpsertSink.RejectsFactory rejects,
      String store,
      RowType type,
      List<String> key,
      String newestBy,
      FlushPolicy policy,
      BufferBounds bounds,
      Companion companion) {
    this.targets = targets;
    this.rejects = rejects;
    this.store = store;
    this.columns = List.copyOf(type.getFieldNames());
    this.converter = new RowConverter(type);
    this.keyColumns = key.stream().mapToInt(columns::indexOf).toArray();
    this.orderColumn = newestBy.isEmpty() ? -1 : columns.indexOf(newestBy);
    this.policy = policy;
    this.bounds = bounds;
    this.companion = companion;
    check(type, newestBy);
  }

  private void check(RowType type, String newestBy) {
    for (RowType.RowField field : type.getFields()) {
      if (!TYPES.contains(field.getType().getTypeRoot())) {
        throw new ValidationException(
            "Column "
                + field.getName()
                + " has type "
                + field.getType().asSummaryString()
                + ": not supported here");
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
    BatchTarget target = targets.get();
    PendingRows pending = new PendingRows(keyColumns, orderColumn, bounds);
    SinkStatus status = new SinkStatus(context.metricGroup(), store, backlog(pending), CLOCK);
    Backoff backoff = new Backoff(BACKOFF_FIRST_MS, BACKOFF_MAX_MS, new SplittableRandom());
    PatientWriter patient =
        new PatientWriter(target, backoff, Thread::sleep, status, rejects.get());
    List<AutoCloseable> closing = new ArrayList<>(List.of(patient));
    if (companion != null && context.getTaskInfo().getIndexOfThisSubtask() == 0) {
      closing.add(companion.start(context.metricGroup()));
    }
    BackgroundWriter background =
        new BackgroundWriter("write to " + store, pending, patient::writeOrGiveUp, policy, CLOCK);
    WriteBehindWriter writer = new WriteBehindWriter(columns, converter, background, closing);
    waiting.forEach(writer::restore);
    return writer;
  }

  private static SinkStatus.Backlog backlog(PendingRows pending) {
    return new SinkStatus.Backlog() {
      @Override
      public long rows() {
        synchronized (pending) {
          return pending.size();
        }
      }

      @Override
      public long oldestSinceMs() {
        synchronized (pending) {
          return pending.oldestSinceMs();
        }
      }

      @Override
      public long shed() {
        synchronized (pending) {
          return pending.shed();
        }
      }
    };
  }

  @Override
  public SimpleVersionedSerializer<WaitingRows> getWriterStateSerializer() {
    return new WaitingRowsSerializer();
  }
}
