package dev.sluice.paths;

import static dev.sluice.otlp.Span.CLIENT;
import static dev.sluice.otlp.Span.SERVER;
import static dev.sluice.paths.Spans.text;
import static dev.sluice.paths.Spans.trace;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Serial calls that overlap a little; times in ns. */
class SerialTest {
  private static final long MS = 1_000_000;

  @Test
  void onePercentOfTheShorterAndOneMillisecond() {
    assertThat(Serial.allows(500_000, 50 * MS, 80 * MS)).isTrue();
    assertThat(Serial.allows(500_001, 50 * MS, 80 * MS)).isFalse();
    assertThat(Serial.allows(500_001, 80 * MS, 50 * MS)).isFalse();
    assertThat(Serial.allows(MS, 2_000 * MS, 900 * MS)).isTrue();
    assertThat(Serial.allows(MS + 1, 2_000 * MS, 900 * MS)).isFalse();
    assertThat(Serial.allows(1, 99, 99)).isFalse();
    assertThat(Serial.allows(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE)).isFalse();
  }

  @Test
  void callThatOverlapsTheNextALittleEndsWhereThatStarts() {
    // 1 % of the shorter, which is [500, 900), are 4.
    assertThat(text(trace().add(1, 0, 0, 1_000).add(2, 1, 0, 504).add(3, 1, 500, 900).path()))
        .isEqualTo("2:0-500 3:500-900 1:900-1000");
    assertThat(text(trace().add(1, 0, 0, 1_000).add(2, 1, 0, 505).add(3, 1, 500, 900).path()))
        .isEqualTo("1:0-500 3:500-900 1:900-1000");
  }

  @Test
  void spansBelowEndThereToo() {
    // 5 lies in what is cut off; 4 ends in it.
    CriticalPath path =
        trace()
            .add(1, 0, 0, 1_000)
            .add(2, 1, CLIENT, 0, 504)
            .add(4, 2, SERVER, 100, 502)
            .add(5, 2, 501, 504)
            .add(3, 1, 500, 900)
            .path();
    assertThat(text(path)).isEqualTo("2:0-100 4:100-500 3:500-900 1:900-1000");
    assertThat(path.spans())
        .extracting(PathSpan::lengthNs)
        .containsExactly(1_000L, 500L, 400L, 400L);
  }

  @Test
  void chainOfSuchCallsIsAllOnThePath() {
    assertThat(
            text(
                trace()
                    .add(1, 0, 0, 900)
                    .add(2, 1, 0, 302)
                    .add(3, 1, 300, 601)
                    .add(4, 1, 599, 900)
                    .path()))
        .isEqualTo("2:0-300 3:300-599 4:599-900");
  }
}
