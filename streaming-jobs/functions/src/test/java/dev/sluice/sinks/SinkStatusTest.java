package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.metrics.groups.InternalSinkWriterMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SinkStatusTest {
  private long nowMs = 1_000;
  private final Map<String, Gauge<?>> gauges = new java.util.HashMap<>();
  private SinkStatus status;

  @BeforeEach
  void register() {
    var group =
        new UnregisteredMetricGroups.UnregisteredOperatorMetricGroup() {
          @Override
          public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            gauges.put(name, gauge);
            return gauge;
          }
        };
    status =
        new SinkStatus(InternalSinkWriterMetricGroup.wrap(group), "A store", () -> 7, () -> nowMs);
  }

  private Object told(String gauge) {
    return gauges.get(gauge).getValue();
  }

  @Test
  void aStoreThatOwesAnAnswerShowsSinceWhen() {
    assertThat(told("store")).isEqualTo("A store");
    assertThat(told("pendingRows")).isEqualTo(7L);
    assertThat(told("attemptSinceMs")).isEqualTo(0L);
    status.attempting();
    assertThat(told("attemptSinceMs")).isEqualTo(1_000L);
    status.written(3);
    assertThat(told("attemptSinceMs")).isEqualTo(0L);
  }

  @Test
  void failingSinceTheFirstOfTheAttemptsUntilOneSucceeds() {
    status.retried(new Exception("first"));
    nowMs = 5_000;
    status.retried(new Exception("second\n  line\t2"));
    assertThat(told("failingSinceMs")).isEqualTo(1_000L);
    assertThat(told("lastError")).isEqualTo("second line 2");
    status.written(1);
    assertThat(told("failingSinceMs")).isEqualTo(0L);
    assertThat(told("lastError")).isEqualTo("second line 2");
  }

  @Test
  void aRowThatIsRejectedIsAnAnswer() {
    status.attempting();
    status.rejected(new IllegalStateException());
    assertThat(told("attemptSinceMs")).isEqualTo(0L);
    assertThat(told("failingSinceMs")).isEqualTo(0L);
    assertThat(told("lastError")).isEqualTo("java.lang.IllegalStateException");
    status.rejected(new Exception("x".repeat(400)));
    assertThat(told("lastError")).isEqualTo("x".repeat(300) + "...");
  }
}
