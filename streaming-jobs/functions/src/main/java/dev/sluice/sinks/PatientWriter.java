package dev.sluice.sinks;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes batches until they are written: an outage of the store becomes back-pressure, never loss.
 * A batch that the store refuses, for its size or for what is in it, is halved until the row at
 * fault is alone. Only such rows are given up, counted and logged; for its size only after several
 * attempts, as it may have been others who took the store's memory.
 */
public final class PatientWriter {
  /** Waits between attempts; interrupted when the task is cancelled. */
  @FunctionalInterface
  public interface Sleeper {
    void sleep(long ms) throws InterruptedException;
  }

  /** Told what happens, for metrics. */
  public interface Observer {
    /** The store is asked; the answer is one of the others, or nothing when the batch is halved. */
    void attempting();

    void written(int rows);

    void rejected(Exception reason);

    void retried(Exception reason);
  }

  private static final Logger LOG = LoggerFactory.getLogger(PatientWriter.class);
  private static final int FIRST_REJECTIONS_LOGGED = 10;
  private static final int REJECTIONS_PER_LOG = 1000;
  private static final int ATTEMPTS_OF_A_LARGE_ROW = 5;

  private final BatchTarget target;
  private final Backoff backoff;
  private final Sleeper sleeper;
  private final Observer observer;
  private long rejections;

  public PatientWriter(BatchTarget target, Backoff backoff, Sleeper sleeper, Observer observer) {
    this.target = target;
    this.backoff = backoff;
    this.sleeper = sleeper;
    this.observer = observer;
  }

  /** Returns when every row is written or rejected. */
  public void write(List<Object[]> rows) throws InterruptedException {
    if (rows.isEmpty()) {
      return;
    }
    try {
      writeOrRetry(rows);
      observer.written(rows.size());
    } catch (RowsRejectedException | TooLargeException e) {
      if (rows.size() == 1) {
        reject(e);
        return;
      }
      int half = rows.size() / 2;
      write(rows.subList(0, half));
      write(rows.subList(half, rows.size()));
    }
  }

  private void writeOrRetry(List<Object[]> rows)
      throws RowsRejectedException, TooLargeException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      observer.attempting();
      try {
        target.write(rows);
        backoff.reset();
        return;
      } catch (RowsRejectedException | InterruptedException e) {
        throw e;
      } catch (Exception e) {
        if (Thread.interrupted()) {
          // Clients wrap the interrupt of a cancelled task into exceptions of their own.
          throw new InterruptedException("interrupted while writing");
        }
        if (e instanceof TooLargeException large
            && (rows.size() > 1 || attempt == ATTEMPTS_OF_A_LARGE_ROW)) {
          throw large;
        }
        long delay = backoff.nextMs();
        observer.retried(e);
        LOG.warn("write {} rows, attempt {}: {}; again in {} ms", rows.size(), attempt, e, delay);
        sleeper.sleep(delay);
      }
    }
  }

  private void reject(Exception e) {
    rejections++;
    observer.rejected(e);
    if (rejections <= FIRST_REJECTIONS_LOGGED || rejections % REJECTIONS_PER_LOG == 0) {
      LOG.error("write row: rejected, {} so far: {}", rejections, e.getMessage());
    }
  }
}
