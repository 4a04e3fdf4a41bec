package dev.sluice.testbed;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.TimeUnit;

/** What a request does besides its database: it computes, and it waits for something remote. */
final class Work {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int CHUNK_BYTES = 2048;

  private Work() {}

  /**
   * Uses {@code micros} microseconds of this thread's CPU time, at least one chunk of some 10.
   * Counted is CPU time, not the clock: a thread that waits for the core has not computed.
   */
  static void compute(long micros) {
    long end = THREADS.getCurrentThreadCpuTime() + TimeUnit.MICROSECONDS.toNanos(micros);
    MessageDigest digest = digest();
    byte[] chunk = new byte[CHUNK_BYTES];
    do {
      byte[] sum = digest.digest(chunk);
      System.arraycopy(sum, 0, chunk, 0, sum.length);
    } while (THREADS.getCurrentThreadCpuTime() < end);
  }

  /** Waits without computing, as for the answer of another service. */
  static void rest(long millis) throws InterruptedException {
    Thread.sleep(millis);
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java has SHA-256", absent);
    }
  }
}
