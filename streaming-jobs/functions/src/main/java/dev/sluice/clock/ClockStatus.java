package dev.sluice.clock;

import dev.sluice.sinks.SinkStatus;
import java.util.function.LongSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Flink's metrics of clock records, all under {@code clockRecords}.
 *
 * <ul>
 *   <li>{@code rounds}: how many rounds were acknowledged
 *   <li>{@code failures}: how many rounds failed
 *   <li>{@code trouble}: a fault, as text for people; "" when there is none. `make status` and
 *       `./sluice doctor` show it
 * </ul>
 */
public final class ClockStatus {
  private static final long WORTH_TELLING_MS = 10_000;

  private final String topic;
  private final LongSupplier clock;
  private final Counter rounds;
  private final Counter failures;
  private volatile long failingSinceMs;
  private volatile String lastError = "";

  /**
   * @param clock Unix time in ms
   */
  public ClockStatus(MetricGroup metrics, String topic, LongSupplier clock) {
    this.topic = topic;
    this.clock = clock;
    MetricGroup group = metrics.addGroup("clockRecords");
    rounds = group.counter("rounds");
    failures = group.counter("failures");
    group.gauge("trouble", (Gauge<String>) this::trouble);
  }

  /**
   * All partitions have a record.
   *
   * @return whether the last round failed
   */
  boolean written() {
    rounds.inc();
    boolean failed = failingSinceMs > 0;
    failingSinceMs = 0;
    return failed;
  }

  /**
   * At least one partition has no record.
   *
   * @return whether the failure is new
   */
  boolean failed(Exception reason) {
    failures.inc();
    String error = SinkStatus.oneLine(reason);
    boolean first = failingSinceMs == 0 || !error.equals(lastError);
    lastError = error;
    if (failingSinceMs == 0) {
      failingSinceMs = clock.getAsLong();
    }
    return first;
  }

  private String trouble() {
    long sinceMs = failingSinceMs;
    long forMs = clock.getAsLong() - sinceMs;
    return sinceMs == 0 || forMs < WORTH_TELLING_MS
        ? ""
        : "clock records of %s: have failed for %d s, a silent partition holds up traces: %s"
            .formatted(topic, forMs / 1000, lastError);
  }
}
