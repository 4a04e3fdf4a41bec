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
  private long oldestMs;
  private long shed;
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
    SinkStatus.Backlog backlog =
        new SinkStatus.Backlog() {
          @Override
          public long rows() {
            return 7;
          }

          @Override
          public long oldestSinceMs() {
            return oldestMs;
          }

          @Override
          public long shed() {
            return shed;
          }
        };
    status =
        new SinkStatus(InternalSinkWriterMetricGroup.wrap(group), "A store", backlog, () -> nowMs);
  }

  private Object value(String gauge) {
    return gauges.get(gauge).getValue();
  }

  @Test
  void aStoreThatOwesAnAnswerShowsSinceWhen() {
    assertThat(value("pendingRows")).isEqualTo(7L);
    assertThat(value("attemptSinceMs")).isEqualTo(0L);
    status.attempting();
    assertThat(value("attemptSinceMs")).isEqualTo(1_000L);
    status.written(3);
    assertThat(value("attemptSinceMs")).isEqualTo(0L);
  }

  @Test
  void failingSinceTheFirstOfTheAttemptsUntilOneSucceeds() {
    status.attempting();
    nowMs = 3_000;
    status.retried(new Exception("first"));
    nowMs = 5_000;
    status.attempting();
    status.retried(new Exception("second\n  line\t2"));
    assertThat(value("failingSinceMs")).isEqualTo(1_000L);
    assertThat(value("lastError")).isEqualTo("second line 2");
    status.written(1);
    assertThat(value("failingSinceMs")).isEqualTo(0L);
    assertThat(value("lastError")).isEqualTo("second line 2");
  }

  @Test
  void aRowThatIsRejectedIsAnAnswer() {
    status.attempting();
    status.rejected(new IllegalStateException());
    assertThat(value("attemptSinceMs")).isEqualTo(0L);
    assertThat(value("failingSinceMs")).isEqualTo(0L);
    assertThat(value("lastError")).isEqualTo("java.lang.IllegalStateException");
    status.rejected(new Exception("x".repeat(400)));
    assertThat(value("lastError")).isEqualTo("x".repeat(300) + "...");
  }

  @Test
  void troubleIsATextForPeople() {
    assertThat(value("trouble")).isEqualTo("");
    status.attempting();
    nowMs = 6_000;
    assertThat(value("trouble")).isEqualTo("");
    nowMs = 6_001;
    assertThat(value("trouble")).isEqualTo("A store: has not answered for 5 s");
    status.retried(new Exception("refused"));
    oldestMs = 6_002;
    nowMs = 36_002;
    assertThat(value("trouble")).isEqualTo("A store: has failed for 35 s: refused");
    nowMs = 36_003;
    shed = 3;
    assertThat(value("trouble"))
        .isEqualTo(
            "A store: has failed for 35 s: refused; 7 rows wait, the oldest for 30 s; "
                + "3 rows were shed, for want of room");
    oldestMs = 0;
    status.written(7);
    status.rejected(new Exception("bad"));
    assertThat(value("trouble"))
        .isEqualTo(
            "A store: 3 rows were shed, for want of room; 1 rows were rejected; last error: bad");
  }
}
