package dev.sluice.sinks;

import java.util.function.LongSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;

/**
 * What Flink's metrics tell about a sink. Written by the thread that writes rows, read by Flink's
 * own; times are Unix times in ms.
 *
 * <ul>
 *   <li>{@code store}: which one, as a string
 *   <li>{@code pendingRows}: how many rows wait to be written
 *   <li>{@code attemptSinceMs}: since when the store has been owing an answer; 0 when it does not
 *   <li>{@code failingSinceMs}: when the first of the attempts failed since which none succeeded; 0
 *       when the last one succeeded
 *   <li>{@code lastError}: what the last attempt that failed was told, also after others succeeded
 *   <li>{@code retries}, and Flink's {@code numRecordsSend} and {@code numRecordsSendErrors} (rows
 *       that were rejected)
 * </ul>
 */
public final class SinkStatus implements PatientWriter.Observer {
  private static final int MAX_ERROR_LENGTH = 300;

  private final Counter written;
  private final Counter rejected;
  private final Counter retries;
  private final LongSupplier clock;
  private volatile long attemptSinceMs;
  private volatile long failingSinceMs;
  private volatile String lastError = "";

  /**
   * @param store told to people; without secrets
   * @param pendingRows called by any thread
   * @param clock Unix time in ms
   */
  public SinkStatus(
      SinkWriterMetricGroup metrics, String store, LongSupplier pendingRows, LongSupplier clock) {
    this.clock = clock;
    written = metrics.getNumRecordsSendCounter();
    rejected = metrics.getNumRecordsSendErrorsCounter();
    retries = metrics.counter("retries");
    metrics.gauge("store", (Gauge<String>) () -> store);
    metrics.gauge("pendingRows", (Gauge<Long>) pendingRows::getAsLong);
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
    lastError = oneLine(reason);
  }

  @Override
  public void retried(Exception reason) {
    retries.inc();
    attemptSinceMs = 0;
    lastError = oneLine(reason);
    if (failingSinceMs == 0) {
      failingSinceMs = clock.getAsLong();
    }
  }

  /** What an exception says, for people: one line, not too long. */
  public static String oneLine(Exception reason) {
    String message = reason.getMessage() == null ? reason.toString() : reason.getMessage();
    String line = message.replaceAll("\\s+", " ").strip();
    return line.length() <= MAX_ERROR_LENGTH ? line : line.substring(0, MAX_ERROR_LENGTH) + "...";
  }
}
