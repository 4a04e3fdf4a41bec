package dev.sluice.recordlimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
  @Test
  void whatIsLeftOutHasItsDefault() {
    assertThat(Limits.parse(null)).isEqualTo(new Limits(16_777_216, 4_194_304));
    assertThat(Limits.parse("")).isEqualTo(Limits.DEFAULT);
    assertThat(Limits.parse("max-poll-bytes=2048")).isEqualTo(new Limits(16_777_216, 2_048));
    assertThat(Limits.parse("max-poll-bytes=2048,max-record-bytes=1024"))
        .isEqualTo(new Limits(1_024, 2_048));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1023", "1073741825", "-1", "1k", "", "99999999999"})
  void whatIsNotLegalIsNamed(String value) {
    assertThatThrownBy(() -> Limits.parse("max-record-bytes=" + value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("option max-record-bytes is " + value + ": must be 1024 to 1073741824");
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-records=5000", "5000", "max-record-bytes", ",,x"})
  void anOptionThatIsNoneIsNamed(String options) {
    assertThatThrownBy(() -> Limits.parse(options))
        .hasMessageContaining("must be max-record-bytes=N or max-poll-bytes=N");
  }
}
