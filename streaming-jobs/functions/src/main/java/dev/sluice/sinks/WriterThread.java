package dev.sluice.sinks;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a thread that writes to a store, which may not react to an interrupt. */
final class WriterThread {
  private static final Logger LOG = LoggerFactory.getLogger(WriterThread.class);
  private static final long CLOSE_MS = 2_000;

  private WriterThread() {}

  /**
   * Interrupts the thread and waits a little. A thread that does not end is a daemon, and is
   * abandoned.
   */
  static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(CLOSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      LOG.warn("{} does not end: abandoned", thread.getName());
    }
  }
}
