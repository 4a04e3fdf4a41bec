package dev.sluice.sinks;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Threads that call a store. They are daemons, because a client may ignore an interrupt. */
public final class StoreThreads {
  private static final Logger LOG = LoggerFactory.getLogger(StoreThreads.class);
  private static final long CLOSE_S = 2;

  private StoreThreads() {}

  /** Makes threads of this name. */
  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Interrupts the threads and waits 2 s. Abandons a thread that has not ended by then. */
  public static void end(ExecutorService threads, String name) {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(CLOSE_S, TimeUnit.SECONDS)) {
        LOG.warn("{} does not end: abandoned", name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
