package dev.sluice.sinks;

import java.io.Serializable;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Upserts into a {@link BatchTarget}: at least once from Flink, and exactly once in effect, because
 * writing a row again changes nothing and an older row never replaces a newer one there. Keeps no
 * state: a checkpoint completes only after all rows before it are written.
 */
public final class UpsertSink implements Sink<RowData> {
  private static final long serialVersionUID = 1L;
  private static final long BACKOFF_FIRST_MS = 100;
  private static final long BACKOFF_MAX_MS = 1_000;

  /** Makes the target, on the task that uses it. */
  public interface TargetFactory extends Supplier<BatchTarget>, Serializable {}

  /** As {@link TargetFactory}, of one that takes Flink's own rows. */
  public interface DirectFactory extends Supplier<DirectTarget>, Serializable {}

  /** Makes the rejects of refused rows, on the same task. */
  public interface RejectsFactory extends Supplier<Rejects>, Serializable {}

  private final DirectFactory targets;
  private final RejectsFactory rejects;
  private final String store;
  private final RowType type;
  private final int[] keyColumns;
  private final FlushPolicy policy;

  /**
   * @param store its name for people; without secrets
   * @param keyColumns positions of the columns that identify a row
   */
  public UpsertSink(
      DirectFactory targets,
      RejectsFactory rejects,
      String store,
      RowType type,
      int[] keyColumns,
      FlushPolicy policy) {
    this.targets = targets;
    this.rejects = rejects;
    this.store = store;
    this.type = type;
    new RowConverter(type); // it says which types are not supported
    this.keyColumns = keyColumns;
    this.policy = policy;
  }

  @Override
  public SinkWriter<RowData> createWriter(WriterInitContext context) {
    DirectTarget target = targets.get();
    RowBuffer buffer = new RowBuffer(type, keyColumns);
    AtomicReference<UpsertSinkWriter> made = new AtomicReference<>();
    SinkStatus.Backlog backlog = () -> made.get() == null ? 0 : made.get().pending();
    SinkStatus status =
        new SinkStatus(context.metricGroup(), store, backlog, System::currentTimeMillis);
    Backoff backoff = new Backoff(BACKOFF_FIRST_MS, BACKOFF_MAX_MS, new SplittableRandom());
    PatientWriter patient =
        new PatientWriter(target, backoff, Thread::sleep, status, rejects.get());
    QuickWriter quick = new QuickWriter(target, new RowConverter(type), patient, status);
    made.set(
        new UpsertSinkWriter(
            store,
            buffer,
            quick,
            policy,
            context.getProcessingTimeService(),
            context.getMailboxExecutor()));
    return made.get();
  }
}
