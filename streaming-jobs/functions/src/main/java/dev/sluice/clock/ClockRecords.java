package dev.sluice.clock;

import dev.sluice.sinks.Backoff;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes clock records, on a thread of its own: at once, then again some milliseconds after the
 * broker acknowledged the last ones. It reports a failure and tries again for ever; no other thread
 * waits for it.
 */
public final class ClockRecords implements AutoCloseable {
  /** The topic of the records. */
  public interface Topic extends AutoCloseable {
    /** Writes one record to every partition. Throws unless all are acknowledged. */
    void write() throws Exception;

    @Override
    void close();
  }

  private static final Logger LOG = LoggerFactory.getLogger(ClockRecords.class);
  private static final long MOST_BACKOFF_MS = 5_000;
  private static final Duration STOP_WITHIN = Duration.ofSeconds(5);

  private final Supplier<Topic> opens;
  private final ClockStatus status;
  private final long everyMs;
  private final Backoff backoff;
  private final Thread thread;
  private volatile boolean closed;

  private ClockRecords(Supplier<Topic> opens, ClockStatus status, long everyMs) {
    this.opens = opens;
    this.status = status;
    this.everyMs = everyMs;
    backoff = new Backoff(everyMs, Math.max(everyMs, MOST_BACKOFF_MS), ThreadLocalRandom.current());
    thread = new Thread(this::run, "sluice-clock-records");
    thread.setDaemon(true);
  }

  /**
   * Starts the thread.
   *
   * @param opens opens the topic; may throw, and is then called again
   */
  public static ClockRecords start(Supplier<Topic> opens, ClockStatus status, long everyMs) {
    ClockRecords records = new ClockRecords(opens, status, everyMs);
    records.thread.start();
    return records;
  }

  private void run() {
    Topic topic = null;
    try {
      while (!closed) {
        long waitMs = everyMs;
        try {
          if (topic == null) {
            topic = opens.get();
          }
          topic.write();
          if (status.written()) {
            LOG.info("clock records are written again");
          }
          backoff.reset();
        } catch (InterruptedException e) {
          return;
        } catch (Exception e) {
          if (closed) {
            return;
          }
          waitMs = backoff.nextMs();
          if (status.failed(e)) {
            LOG.warn("write clock records, tried again for ever", e);
          }
        }
        Thread.sleep(waitMs);
      }
    } catch (InterruptedException e) {
      // Closed: there is nothing left to do.
    } finally {
      if (topic != null) {
        topic.close();
      }
    }
  }

  /** Stops it. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join(STOP_WITHIN.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
