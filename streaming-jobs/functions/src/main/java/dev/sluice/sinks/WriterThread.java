package dev.sluice.sinks;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of a thread that writes to a store, which may not answer an interrupt. */
final class WriterThread {
  private static final Logger LOG = LoggerFactory.getLogger(WriterThread.class);
  private static final long CLOSE_MS = 2_000;

  private WriterThread() {}

  /** Interrupts it and waits a little. One that does not end is a daemon's, and left behind. */
  static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(CLOSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      LOG.warn("{} does not end: left behind", thread.getName());
    }
  }
}
