package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockSkewTest {
  @ParameterizedTest
  @CsvSource({
    "110, 115, 0",
    "100, 200, 0",
    "170, 202, -2", // it ended after its response: to the end
    "160, 220, -20",
    "170, 230, -30", // half of it
    "170, 232, -51", // more than half: to the middle
    "190, 250, -70",
    "50, 110, 70",
    "60, 160, 40", // as long as the client span: to its start
    "99, 100, 50", // 99 left over: 49 and 50
    "150, 300, 0",
    "90, 300, 10",
    "500, 700, -400",
    "200, 301, -100",
  })
  void shiftOfServerSpanBelowClientSpanFrom100To200(long start, long end, long shift) {
    assertThat(ClockSkew.shiftNs(100, 200, start, end)).isEqualTo(shift);
  }
}
