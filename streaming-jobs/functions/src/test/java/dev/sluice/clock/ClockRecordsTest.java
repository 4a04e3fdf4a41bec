package dev.sluice.clock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClockRecordsTest {
  private static final long EVERY_MS = 5;

  /** Metrics by name. */
  private static final class Metrics extends UnregisteredMetricsGroup {
    private final Map<String, Metric> metrics = new HashMap<>();

    @Override
    public MetricGroup addGroup(String name) {
      return this;
    }

    @Override
    public Counter counter(String name) {
      Counter counter = super.counter(name);
      metrics.put(name, counter);
      return counter;
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
      metrics.put(name, gauge);
      return gauge;
    }

    private Object gauge(String name) {
      return ((Gauge<?>) metrics.get(name)).getValue();
    }

    private long count(String name) {
      return ((Counter) metrics.get(name)).getCount();
    }
  }

  private final Metrics metrics = new Metrics();
  private final AtomicLong nowMs = new AtomicLong(1_000_000);
  private final ClockStatus status = new ClockStatus(metrics, "spans", nowMs::get);

  /** What was done: "open", "write", "close". */
  private final BlockingQueue<String> done = new LinkedBlockingQueue<>();

  private final AtomicBoolean away = new AtomicBoolean();

  private ClockRecords start() {
    Supplier<ClockRecords.Topic> opens =
        () -> {
          done.add("open");
          if (away.get()) {
            throw new IllegalStateException("no broker");
          }
          return new ClockRecords.Topic() {
            @Override
            public void write() throws Exception {
              done.add("write");
              if (away.get()) {
                throw new IllegalArgumentException("not allowed");
              }
            }

            @Override
            public void close() {
              done.add("close");
            }
          };
        };
    return ClockRecords.start(opens, status, EVERY_MS);
  }

  private void await(String what) throws InterruptedException {
    while (!what.equals(done.poll(30, TimeUnit.SECONDS))) {
      // Something else came before it.
    }
  }

  /** From now on it fails, or no longer; returns once it has. */
  private void setAway(boolean now) throws InterruptedException {
    away.set(now);
    done.clear();
    // The first may have begun before, and the second ended before the third begins.
    for (int i = 0; i < 3; i++) {
      await("write");
    }
  }

  @Test
  void writesAtOnceAndAgainUntilItIsClosed() throws Exception {
    ClockRecords records = start();
    await("open");
    await("write");
    await("write");
    records.close();
    await("close");
    int left = done.size();
    Thread.sleep(5 * EVERY_MS);
    assertThat(done).hasSize(left);
    assertThat(metrics.count("rounds")).isPositive();
    assertThat(metrics.gauge("trouble")).isEqualTo("");
  }

  @Test
  void aTopicThatCannotBeOpenedOrWrittenIsReportedAndTriedAgain() throws Exception {
    away.set(true);
    try (ClockRecords records = start()) {
      await("open");
      await("open");
      assertThat(metrics.gauge("trouble")).as("too short to report").isEqualTo("");
      setAway(false);
      setAway(true);
      nowMs.addAndGet(12_000);
      assertThat(metrics.gauge("trouble"))
          .isEqualTo(
              "clock records of spans: have failed for 12 s, a silent partition holds up traces:"
                  + " not allowed");
      assertThat(metrics.count("failures")).isGreaterThanOrEqualTo(2);
      setAway(false);
      assertThat(metrics.gauge("trouble")).isEqualTo("");
    }
  }
}
