package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FlushPolicyTest {
  @ParameterizedTest
  @CsvSource({
    "130, 0, 400",
    // Another follows within 40 ms.
    "380, 0, 420",
    "900, 0, 940",
    // The clock was set back by an hour.
    "1000, 3600000, 1400",
  })
  void rowsAreDueAnIntervalAfterTheBatchBefore(long rowMs, long batchBeforeMs, long dueMs) {
    assertThat(new FlushPolicy(10, 400).dueMs(rowMs, batchBeforeMs)).isEqualTo(dueMs);
  }
}
