package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;

/**
 * Flink's metrics of a sink. The thread that writes rows sets them, Flink's own threads read them;
 * times are Unix times in ms.
 *
 * <ul>
 *   <li>{@code trouble}: a fault, as text for people; "" when there is none. `make status` and
 *       `./sluice doctor` show it
 *   <li>{@code pendingRows}: how many rows wait to be written
 *   <li>{@code oldestPendingSinceMs}: when the row came that has waited longest; 0 when none waits
 *   <li>{@code shedRows}: how many rows were dropped for want of room
 *   <li>{@code attemptSinceMs}: since when an attempt waits for the store's answer; 0 when none
 *       does
 *   <li>{@code failingSinceMs}: when the oldest attempt of the present series of failures began; 0
 *       when the last answered attempt succeeded
 *   <li>{@code lastError}: the error of the last attempt that failed, also after later ones
 *       succeeded
 *   <li>{@code retries}: how many attempts were repeated
 *   <li>Flink's {@code numRecordsSend} and {@code numRecordsSendErrors} (rows that were rejected)
 * </ul>
 */
public final class SinkStatus implements BatchWriter.Observer {
  /** The rows that the store does not have yet; any thread may call it. */
  interface Backlog {
    long rows();

    /** When the row came that has waited longest, in Unix ms; 0 if no row waits or if unknown. */
    default long oldestSinceMs() {
      return 0;
    }

    /** Rows that were dropped for want of room. */
    default long shed() {
      return 0;
    }
  }

  // A slower answer, and rows that wait for longer, are reported.
  private static final long SLOW_ANSWER_MS = 5_000;
  private static final long BEHIND_MS = 30_000;
  private static final int MAX_ERROR_LENGTH = 300;

  private final Counter written;
  private final Counter rejected;
  private final Counter retries;
  private final String store;
  private final Backlog backlog;
  private final LongSupplier clock;
  private volatile long attemptSinceMs;
  private volatile long failingSinceMs;
  private volatile String lastError = "";

  /**
   * @param store its name for people; without secrets
   * @param clock Unix time in ms
   */
  public SinkStatus(
      SinkWriterMetricGroup metrics, String store, Backlog backlog, LongSupplier clock) {
    this.store = store;
    this.backlog = backlog;
    this.clock = clock;
    written = metrics.getNumRecordsSendCounter();
    rejected = metrics.getNumRecordsSendErrorsCounter();
    retries = metrics.counter("retries");
    metrics.gauge("trouble", (Gauge<String>) this::trouble);
    metrics.gauge("pendingRows", (Gauge<Long>) backlog::rows);
    metrics.gauge("oldestPendingSinceMs", (Gauge<Long>) backlog::oldestSinceMs);
    metrics.gauge("shedRows", (Gauge<Long>) backlog::shed);
    metrics.gauge("attemptSinceMs", (Gauge<Long>) () -> attemptSinceMs);
    metrics.gauge("failingSinceMs", (Gauge<Long>) () -> failingSinceMs);
    metrics.gauge("lastError", (Gauge<String>) () -> lastError);
  }

  @Override
  public void attempting() {
    attemptSinceMs = clock.getAsLong();
  }

  @Override
  public void written(int rows) {
    written.inc(rows);
    attemptSinceMs = 0;
    failingSinceMs = 0;
  }

  @Override
  public void rejected(Exception reason) {
    rejected.inc();
    attemptSinceMs = 0;
    failingSinceMs = 0;
    lastError = oneLine(reason);
  }

  @Override
  public void retried(Exception reason) {
    retries.inc();
    if (failingSinceMs == 0) {
      failingSinceMs = attemptSinceMs;
    }
    attemptSinceMs = 0;
    lastError = oneLine(reason);
  }

  private String trouble() {
    long nowMs = clock.getAsLong();
    long failing = failingSinceMs;
    long attempt = attemptSinceMs;
    long oldest = backlog.oldestSinceMs();
    List<String> faults = new ArrayList<>();
    if (failing > 0) {
      faults.add("has failed for " + secondsSince(failing, nowMs) + " s: " + lastError);
    } else if (attempt > 0 && nowMs - attempt > SLOW_ANSWER_MS) {
      faults.add("has not answered for " + secondsSince(attempt, nowMs) + " s");
    }
    if (oldest > 0 && nowMs - oldest > BEHIND_MS) {
      String wait = " rows wait, the oldest for " + secondsSince(oldest, nowMs) + " s";
      faults.add(backlog.rows() + wait);
    }
    if (backlog.shed() > 0) {
      faults.add(backlog.shed() + " rows were shed, for want of room");
    }
    if (rejected.getCount() > 0) {
      faults.add(rejected.getCount() + " rows were rejected; last error: " + lastError);
    }
    return faults.isEmpty() ? "" : store + ": " + String.join("; ", faults);
  }

  private static long secondsSince(long sinceMs, long nowMs) {
    return (nowMs - sinceMs) / 1000;
  }

  /** The text of an exception for people: one line, shortened. */
  public static String oneLine(Exception reason) {
    String message = reason.getMessage() == null ? reason.toString() : reason.getMessage();
    String line = message.replaceAll("\\s+", " ").strip();
    return line.length() <= MAX_ERROR_LENGTH ? line : line.substring(0, MAX_ERROR_LENGTH) + "...";
  }
}
