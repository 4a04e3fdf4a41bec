package dev.sluice.sinks;

import java.io.Serializable;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.flink.table.types.logical.RowType;

/**
 * A table of a store that a sink writes.
 *
 * @param <R> a row, as the store takes it
 * @param targets makes the target, on the task that uses it
 * @param rejects makes the place of rejected rows, on the same task
 * @param store its name for people; without secrets
 * @param keyColumns positions of the primary key
 */
public record SinkTable<R>(
    Factory<BatchTarget<R>> targets,
    Factory<Rejects> rejects,
    String store,
    RowType type,
    int[] keyColumns)
    implements Serializable {
  private static final long FIRST_BACKOFF_MS = 100;

  /** Flink ships it to the tasks. */
  public interface Factory<T> extends Supplier<T>, Serializable {}

  /** Opens the store for one task. */
  BatchWriter<R> open(Function<R, Object[]> values, long mostBackoffMs, SinkStatus status) {
    Backoff backoff = new Backoff(FIRST_BACKOFF_MS, mostBackoffMs, new SplittableRandom());
    return new BatchWriter<>(targets.get(), values, backoff, Thread::sleep, status, rejects.get());
  }
}
