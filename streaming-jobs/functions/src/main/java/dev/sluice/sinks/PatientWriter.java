package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes batches until they are written: an outage of the store becomes back-pressure, never loss.
 * A batch that the store refuses, for its size or its content, is split until the row at fault is
 * alone. Such rows are set aside, counted and logged. A row that is refused for its size is set
 * aside only after several attempts, because other clients may have used the store's memory.
 *
 * <p>Rows are not set aside for a store that takes no row at all. Where it takes no row of a batch,
 * the writer sends a row that the store took before. Writing that again changes nothing, so if it
 * is refused now, the table is at fault and not the rows.
 */
public final class PatientWriter implements AutoCloseable {
  /** Waits between attempts; interrupted when the task is cancelled. */
  @FunctionalInterface
  public interface Sleeper {
    void sleep(long ms) throws InterruptedException;
  }

  /** Receives events, for metrics. */
  public interface Observer {
    /**
     * The writer sends to the store. The result is one of the other events, or none when the batch
     * is split.
     */
    void attempting();

    void written(int rows);

    void rejected(Exception reason);

    void retried(Exception reason);
  }

  private static final Logger LOG = LoggerFactory.getLogger(PatientWriter.class);
  private static final int FIRST_REJECTIONS_LOGGED = 10;
  private static final int REJECTIONS_PER_LOG = 1000;
  private static final int ATTEMPTS_OF_A_LARGE_ROW = 5;
  private static final int ATTEMPTS_OF_A_TABLE = 10;
  // After this many refusals, of rows from all over a batch, the rest is not tried.
  private static final int REFUSALS_THAT_CONVINCE = 32;

  private final BatchTarget target;
  private final Backoff backoff;
  private final Sleeper sleeper;
  private final Observer observer;
  private final Rejects rejects;
  private Object[] takenBefore;
  private long rejections;

  /** State of the batch that is being written. */
  private static final class Batch {
    final List<Rejects.Rejected> refused = new ArrayList<>();
    // The store has taken a row since the batch began: refused rows are themselves at fault.
    boolean storeTakes;
  }

  public PatientWriter(
      BatchTarget target, Backoff backoff, Sleeper sleeper, Observer observer, Rejects rejects) {
    this.target = target;
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
  public void write(List<Object[]> rows) throws InterruptedException {
    List<Rejects.Rejected> refused = refusedOf(rows);
    if (!refused.isEmpty()) {
      // The table may have been altered, or repaired meanwhile: only a row that is refused once
      // more, between two rows that are taken, is at fault.
      refused = refusedOf(refused.stream().map(Rejects.Rejected::row).toList());
    }
    if (!refused.isEmpty()) {
      if (!takesAgain(takenBefore)) {
        throw tableAtFault(refused.size(), refused.get(0).detail(), null);
      }
      setAside(refused);
    }
  }

  /**
   * Writes as {@link #write}, for a store that must not block the job: where it takes no row,
   * several times and with pauses, all rows are set aside.
   */
  public void writeOrGiveUp(List<Object[]> rows) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        write(rows);
        return;
      } catch (TableAtFaultException e) {
        if (attempt == ATTEMPTS_OF_A_TABLE) {
          String reason = RowsRejectedException.REFUSED;
          setAside(
              rows.stream().map(row -> new Rejects.Rejected(row, reason, e.getMessage())).toList());
          return;
        }
        retryLater("write " + rows.size() + " rows", attempt, e);
      }
    }
  }

  /** The store has taken this row, in whichever attempt. */
  void taken(Object[] row) {
    takenBefore = row;
    backoff.reset();
  }

  private List<Rejects.Rejected> refusedOf(List<Object[]> rows) throws InterruptedException {
    Batch batch = new Batch();
    write(rows, batch);
    if (!batch.refused.isEmpty() && !batch.storeTakes) {
      throw tableAtFault(batch.refused.size(), batch.refused.get(0).detail(), null);
    }
    return batch.refused;
  }

  private void write(List<Object[]> rows, Batch batch) throws InterruptedException {
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

  private static List<Object[]> everySecond(List<Object[]> rows, int first) {
    List<Object[]> chosen = new ArrayList<>(rows.size() / 2 + 1);
    for (int i = first; i < rows.size(); i += 2) {
      chosen.add(rows.get(i));
    }
    return chosen;
  }

  private void refused(Object[] row, String reason, Exception e, Batch batch)
      throws InterruptedException {
    batch.refused.add(new Rejects.Rejected(row, reason, e.getMessage()));
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

  private boolean takesAgain(Object[] row) throws InterruptedException {
    try {
      writeOrRetry(List.<Object[]>of(row));
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

  private void writeOrRetry(List<Object[]> rows)
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
      target.write(List.<Object[]>of(takenBefore));
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

  private void setAside(List<Rejects.Rejected> refused) throws InterruptedException {
    for (Rejects.Rejected each : refused) {
      rejections++;
      observer.rejected(new RowsRejectedException(each.reason(), each.detail(), null));
      if (rejections <= FIRST_REJECTIONS_LOGGED || rejections % REJECTIONS_PER_LOG == 0) {
        LOG.error("row set aside, {} so far: {}: {}", rejections, each.reason(), each.detail());
      }
    }
    for (int attempt = 1; ; attempt++) {
      try {
        rejects.setAside(refused);
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
