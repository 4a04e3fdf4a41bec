package dev.sluice.sinks;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
  private final String name;
  private final ExecutorService thread;
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
    this.name = name;
    this.thread = Executors.newSingleThreadExecutor(StoreThreads.named(name));
    thread.execute(this::run);
  }

  /** Throws IllegalStateException if the thread has died, because nobody would write the row. */
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

  /** Every row that the store does not have yet. */
  List<Object[]> unwritten() {
    synchronized (pending) {
      return pending.all();
    }
  }

  /** Waits until the store has every row, for {@code timeoutMs} at most; returns whether it has. */
  boolean drain(long timeoutMs) throws InterruptedException {
    long deadline = System.nanoTime() + timeoutMs * 1_000_000;
    synchronized (pending) {
      while (pending.rows() > 0) {
        long leftMs = (deadline - System.nanoTime()) / 1_000_000;
        if (leftMs <= 0) {
          return false;
        }
        pending.wait(leftMs);
      }
      return true;
    }
  }

  /** Ends the thread. Rows that it has not written stay unwritten. */
  @Override
  public void close() {
    StoreThreads.end(thread, name);
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

  /**
   * Waits for rows, and for as long as the policy lets them gather; by the clock, and no longer
   * when it is set back.
   */
  private List<Object[]> next() throws InterruptedException {
    synchronized (pending) {
      while (pending.waiting() == 0) {
        pending.wait();
      }
      long dueMs = pending.oldestSinceMs() + policy.intervalMs();
      long beganNs = System.nanoTime();
      while (pending.waiting() < policy.maxRows()) {
        long waitedMs = (System.nanoTime() - beganNs) / 1_000_000;
        long leftMs = Math.min(dueMs - clock.getAsLong(), policy.intervalMs() - waitedMs);
        if (leftMs <= 0) {
          break;
        }
        pending.wait(leftMs);
      }
      return pending.take(policy.maxRows(), BATCH_BYTES);
    }
  }
}
