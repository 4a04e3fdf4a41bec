package dev.sluice.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

class LatencyIndexTest {
  @ParameterizedTest
  @CsvSource({
    "0, -1", // counts as 1 ns
    "1, -1", // log2 = 0
    "2, 63", // 1 * 64 - 1
    "3, 101", // ceil(101.44) - 1
    "4, 127",
    "1000, 637", // log2 = 9.96578, * 64 = 637.81
    "1024, 639", // a power of two lies on a bound, and belongs below it
    "1025, 640",
    "1000000, 1275", // 1275.63
    "26000000, 1576", // 24.63208 * 64 = 1576.45
    "1000000000, 1913", // 1913.44
    "600000000000, 2504", // ten minutes: 39.12615 * 64 = 2504.07
    "9223372036854775807, 4031", // 2^63 - 1
  })
  void workedValues(long ns, int index) {
    assertThat(LatencyIndex.of(ns)).isEqualTo(index);
  }

  @ParameterizedTest
  @CsvFileSource(files = "../../tests/contract/latency_index.csv", numLinesToSkip = 1)
  void agreesWithTheTableThatAllLanguagesShare(long ns, int index) {
    assertThat(LatencyIndex.of(ns)).isEqualTo(index);
  }

  @Property(tries = 2000)
  void boundsHoldExactly(@ForAll @LongRange(min = 1) long ns) {
    // 2^(i/64) < ns <= 2^((i+1)/64)  <=>  2^i < ns^64 <= 2^(i+1), in whole numbers
    int index = LatencyIndex.of(ns);
    BigInteger power = BigInteger.valueOf(ns).pow(64);
    assertThat(power).isLessThanOrEqualTo(BigInteger.TWO.pow(index + 1));
    if (index >= 0) {
      assertThat(power).isGreaterThan(BigInteger.TWO.pow(index));
    }
  }

  @Property
  void middleIsWithinTheStatedError(@ForAll @LongRange(min = 1000, max = 1L << 50) long ns) {
    assertThat(LatencyIndex.middleNs(LatencyIndex.of(ns)) / ns).isBetween(0.9945, 1.0055);
  }
}
