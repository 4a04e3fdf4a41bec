package dev.sluice.sinks;

import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes {@link PendingRows} on a thread of its own, so that the caller that adds rows never waits
 * for the store: not when it is away, slow or full, nor when it takes requests and does not answer.
 */
final class BackgroundWriter implements AutoCloseable {
  /** Writes a batch, however long it takes; throws when the thread is interrupted. */
  @FunctionalInterface
  interface Batches {
    void write(List<Object[]> rows) throws InterruptedException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(BackgroundWriter.class);
  private static final long BATCH_BYTES = 4L << 20;

  private final PendingRows pending; // guarded by itself
  private final Batches batches;
  private final FlushPolicy policy;
  private final LongSupplier clock;
  private final Thread thread;
  private Throwable failure; // guarded by pending

  /**
   * @param name of the thread
   * @param clock Unix time in ms
   */
  BackgroundWriter(
      String name, PendingRows pending, Batches batches, FlushPolicy policy, LongSupplier clock) {
    this.pending = pending;
    this.batches = batches;
    this.policy = policy;
    this.clock = clock;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Throws IllegalStateException when the thread has died, because nothing would ever be written.
   */
  void add(Object[] row) {
    synchronized (pending) {
      if (failure != null) {
        throw new IllegalStateException("the thread that writes rows has died", failure);
      }
      pending.put(row, clock.getAsLong());
      if (pending.waiting() == 1 || pending.waiting() >= policy.maxRows()) {
        pending.notifyAll();
      }
    }
  }

  /** Every row that is not written yet. */
  List<Object[]> unwritten() {
    synchronized (pending) {
      return pending.all();
    }
  }

  /** Waits until every row is written, at most {@code timeoutMs}; returns whether it is. */
  boolean drain(long timeoutMs) throws InterruptedException {
    long deadline = System.nanoTime() + timeoutMs * 1_000_000;
    synchronized (pending) {
      while (pending.size() > 0) {
        long leftMs = (deadline - System.nanoTime()) / 1_000_000;
        if (leftMs <= 0) {
          return false;
        }
        pending.wait(leftMs);
      }
      return true;
    }
  }

  /** Ends the thread. Rows that are not written stay unwritten. */
  @Override
  public void close() {
    WriterThread.end(thread);
  }

  private void run() {
    try {
      while (true) {
        batches.write(next());
        synchronized (pending) {
          pending.done();
          pending.notifyAll();
        }
      }
    } catch (InterruptedException e) {
      // closed
    } catch (Throwable e) {
      LOG.error("write rows", e);
      synchronized (pending) {
        failure = e;
      }
    }
  }

  /** Waits for rows, and for as long as the policy lets them gather. */
  private List<Object[]> next() throws InterruptedException {
    synchronized (pending) {
      while (pending.waiting() == 0) {
        pending.wait();
      }
      long dueMs = pending.oldestSinceMs() + policy.intervalMs();
      long leftMs;
      while (pending.waiting() < policy.maxRows() && (leftMs = dueMs - clock.getAsLong()) > 0) {
        pending.wait(Math.min(leftMs, policy.intervalMs()));
      }
      return pending.take(policy.maxRows(), BATCH_BYTES);
    }
  }
}
