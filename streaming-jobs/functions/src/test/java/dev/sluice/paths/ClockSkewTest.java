package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockSkewTest {
  @ParameterizedTest
  @CsvSource({
    "110, 115, 0",
    "100, 200, 0",
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
