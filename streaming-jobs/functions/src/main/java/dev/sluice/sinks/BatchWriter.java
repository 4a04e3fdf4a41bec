package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policy of all sinks for failures and refusals. The writer repeats a batch until the store
 * takes it, so an outage becomes back-pressure and not loss. It splits a batch that the store
 * refuses, for its size or its content, until the row at fault is alone. It sets such a row aside,
 * counts and logs it. It sets a row that is too large aside only after several attempts, because
 * other clients may have used the store's memory.
 *
 * <p>The writer sets no row aside for a store that takes no row at all. If the store takes no row
 * of a batch, the writer sends a row that the store took before. Writing that row again changes
 * nothing. If the store refuses it now, the table is at fault and not the rows.
 *
 * @param <R> a row
 */
public final class BatchWriter<R> implements AutoCloseable {
  /** Waits between attempts; interrupted when the task is cancelled. */
  @FunctionalInterface
  public interface Sleeper {
    void sleep(long ms) throws InterruptedException;
  }

  /** Receives events, for metrics. */
  public interface Observer {
    /**
     * The writer sends to the store. The result is one of the other events, or none if the writer
     * splits the batch.
     */
    void attempting();

    void written(int rows);

    void rejected(Exception reason);

    void retried(Exception reason);
  }

  private static final Logger LOG = LoggerFactory.getLogger(BatchWriter.class);
  private static final int FIRST_REJECTIONS_LOGGED = 10;
  private static final int REJECTIONS_PER_LOG = 1000;
  private static final int ATTEMPTS_OF_A_LARGE_ROW = 5;
  private static final int ATTEMPTS_OF_A_TABLE = 10;
  // After so many refusals of rows from all over a batch, the writer does not try the rest.
  private static final int REFUSALS_THAT_CONVINCE = 32;

  private final BatchTarget<R> target;
  private final Function<R, Object[]> values;
  private final Backoff backoff;
  private final Sleeper sleeper;
  private final Observer observer;
  private final Rejects rejects;
  private R takenBefore;
  private long rejections;

  /** A row that the store refused, and why; the reason is one of {@link RowsRejectedException}. */
  private record Refused<R>(R row, String reason, String detail) {}

  /** State of the batch in work. */
  private static final class Batch<R> {
    final List<Refused<R>> refused = new ArrayList<>();
    // The store has taken a row since the batch began: refused rows are themselves at fault.
    boolean storeTakes;
  }

  /**
   * @param values one value per column of the sink table, for {@code rejects}
   */
  public BatchWriter(
      BatchTarget<R> target,
      Function<R, Object[]> values,
      Backoff backoff,
      Sleeper sleeper,
      Observer observer,
      Rejects rejects) {
    this.target = target;
    this.values = values;
    this.backoff = backoff;
    this.sleeper = sleeper;
    this.observer = observer;
    this.rejects = rejects;
  }

  /**
   * Returns when every row is written or set aside.
   *
   * @throws TableAtFaultException if the store takes no row
   */
  public void write(List<R> rows) throws InterruptedException {
    List<Refused<R>> refused = refusedOf(rows);
    if (!refused.isEmpty()) {
      // Somebody may have altered or repaired the table meanwhile. A row is at fault only if the
      // store refuses it once more, between two rows that it takes.
      refused = refusedOf(refused.stream().map(Refused::row).toList());
    }
    if (!refused.isEmpty()) {
      if (!takesAgain(takenBefore)) {
        throw tableAtFault(refused.size(), refused.get(0).detail(), null);
      }
      setAside(refused);
    }
  }

  /**
   * Writes as {@link #write}, for a store that must not block the job: if it takes no row in ten
   * attempts with pauses, the writer sets all rows aside.
   */
  public void writeOrGiveUp(List<R> rows) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        write(rows);
        return;
      } catch (TableAtFaultException e) {
        if (attempt == ATTEMPTS_OF_A_TABLE) {
          String reason = RowsRejectedException.REFUSED;
          setAside(rows.stream().map(row -> new Refused<>(row, reason, e.getMessage())).toList());
          return;
        }
        retryLater("write " + rows.size() + " rows", attempt, e);
      }
    }
  }

  private List<Refused<R>> refusedOf(List<R> rows) throws InterruptedException {
    Batch<R> batch = new Batch<>();
    write(rows, batch);
    if (!batch.refused.isEmpty() && !batch.storeTakes) {
      throw tableAtFault(batch.refused.size(), batch.refused.get(0).detail(), null);
    }
    return batch.refused;
  }

  private void write(List<R> rows, Batch<R> batch) throws InterruptedException {
    if (rows.isEmpty()) {
      return;
    }
    try {
      writeOrRetry(rows);
      observer.written(rows.size());
      batch.storeTakes = true;
      takenBefore = rows.get(0);
    } catch (RowsRejectedException e) {
      if (rows.size() == 1) {
        refused(rows.get(0), e.reason(), e, batch);
        return;
      }
      // Every second row, so that the first single rows are from all over the batch.
      write(everySecond(rows, 0), batch);
      write(everySecond(rows, 1), batch);
    } catch (TooLargeException e) {
      if (rows.size() == 1) {
        refused(rows.get(0), RowsRejectedException.TOO_LARGE, e, batch);
        return;
      }
      int half = rows.size() / 2;
      write(rows.subList(0, half), batch);
      write(rows.subList(half, rows.size()), batch);
    }
  }

  private static <R> List<R> everySecond(List<R> rows, int first) {
    List<R> chosen = new ArrayList<>(rows.size() / 2 + 1);
    for (int i = first; i < rows.size(); i += 2) {
      chosen.add(rows.get(i));
    }
    return chosen;
  }

  private void refused(R row, String reason, Exception e, Batch<R> batch)
      throws InterruptedException {
    batch.refused.add(new Refused<>(row, reason, e.getMessage()));
    if (batch.storeTakes) {
      return;
    }
    if (takenBefore != null) {
      batch.storeTakes = takesAgain(takenBefore);
    }
    boolean convinced = takenBefore != null || batch.refused.size() == REFUSALS_THAT_CONVINCE;
    if (!batch.storeTakes && convinced) {
      throw tableAtFault(batch.refused.size(), e.getMessage(), e);
    }
  }

  private boolean takesAgain(R row) throws InterruptedException {
    try {
      writeOrRetry(List.of(row));
      return true;
    } catch (TooLargeException e) {
      return true; // it was taken between two attempts
    } catch (RowsRejectedException e) {
      return false;
    }
  }

  private TableAtFaultException tableAtFault(int refused, String answer, Exception cause) {
    String before = takenBefore == null ? "" : ", and one that it took before";
    return new TableAtFaultException(
        "refused: each of " + refused + " rows" + before + ": " + answer, cause);
  }

  private void writeOrRetry(List<R> rows)
      throws RowsRejectedException, TooLargeException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      observer.attempting();
      try {
        target.write(rows);
        backoff.reset();
        return;
      } catch (RowsRejectedException | TableAtFaultException | InterruptedException e) {
        throw e;
      } catch (Exception e) {
        if (e instanceof TooLargeException large && (rows.size() > 1 || isAtFault(attempt))) {
          throw large;
        }
        retryLater("write " + rows.size() + " rows", attempt, e);
      }
    }
  }

  /**
   * A single row is too large, and the store is not short of memory, if it takes another row
   * meanwhile.
   */
  private boolean isAtFault(int attempt) throws InterruptedException {
    if (attempt < ATTEMPTS_OF_A_LARGE_ROW || takenBefore == null) {
      return attempt >= ATTEMPTS_OF_A_LARGE_ROW;
    }
    try {
      target.write(List.of(takenBefore));
      return true;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return false;
    }
  }

  private void retryLater(String what, int attempt, Exception e) throws InterruptedException {
    if (Thread.interrupted()) {
      // Clients wrap the interrupt of a cancelled task into exceptions of their own.
      throw new InterruptedException("interrupted while writing");
    }
    long delay = backoff.nextMs();
    observer.retried(e);
    LOG.warn("{}, attempt {}: {}; again in {} ms", what, attempt, e, delay);
    sleeper.sleep(delay);
  }

  private void setAside(List<Refused<R>> refused) throws InterruptedException {
    List<Rejects.Rejected> rejected = new ArrayList<>();
    for (Refused<R> row : refused) {
      rejected.add(new Rejects.Rejected(values.apply(row.row()), row.reason(), row.detail()));
      rejections++;
      observer.rejected(new RowsRejectedException(row.reason(), row.detail(), null));
      if (rejections <= FIRST_REJECTIONS_LOGGED || rejections % REJECTIONS_PER_LOG == 0) {
        LOG.error("row set aside, {} so far: {}: {}", rejections, row.reason(), row.detail());
      }
    }
    for (int attempt = 1; ; attempt++) {
      try {
        rejects.setAside(rejected);
        return;
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        retryLater("set " + refused.size() + " rows aside", attempt, e);
      }
    }
  }

  /** Closes the target and the rejects. */
  @Override
  public void close() {
    target.close();
    rejects.close();
  }
}
