package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class Sum128Test {
  private static final BigInteger LIMIT =
      BigInteger.ONE.shiftLeft(128).subtract(BigInteger.ONE).min(Sum128.MAX_SHOWN);

  private static BigInteger shown(Sum128 sum) {
    return sum.toDecimal().toBigIntegerExact();
  }

  @Test
  void hourSquared() {
    Sum128 sum = new Sum128();
    sum.addProduct(3_600_000_000_000L, 3_600_000_000_000L);
    assertThat(sum.toDecimal()).isEqualTo(new BigDecimal("12960000000000000000000000"));
  }

  @Test
  void carriesFromTheLowHalf() {
    // 3 * (2^32 * 2^31) = 3 * 2^63 = 2^64 + 2^63
    Sum128 sum = new Sum128();
    for (int i = 0; i < 3; i++) {
      sum.addProduct(1L << 32, 1L << 31);
    }
    assertThat(sum.toDecimal()).isEqualTo(new BigDecimal("27670116110564327424"));
  }

  @Test
  void staysAtTheLargestRatherThanWrap() {
    Sum128 sum = new Sum128();
    for (int i = 0; i < 10; i++) { // from the fifth on beyond 2^128
      sum.addProduct(Long.MAX_VALUE, Long.MAX_VALUE);
    }
    sum.addProduct(1, 1);
    assertThat(sum.toDecimal()).isEqualTo(new BigDecimal("9".repeat(38)));
  }

  @Property(tries = 500)
  void isTheSumOfBigIntegersInAnyGrouping(
      @ForAll List<@LongRange(min = 0) Long> values, @ForAll @LongRange(min = 0) long by)
      throws IOException {
    Sum128 whole = new Sum128();
    Sum128 even = new Sum128();
    Sum128 odd = new Sum128();
    BigInteger expected = BigInteger.ZERO;
    for (int i = 0; i < values.size(); i++) {
      whole.addProduct(values.get(i), by);
      (i % 2 == 0 ? even : odd).addProduct(values.get(i), by);
      expected = expected.add(BigInteger.valueOf(values.get(i)).multiply(BigInteger.valueOf(by)));
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    odd.write(new DataOutputStream(bytes));
    Sum128 read = new Sum128();
    read.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    even.add(read);
    assertThat(shown(whole)).isEqualTo(expected.min(LIMIT));
    assertThat(shown(even)).isEqualTo(expected.min(LIMIT));
  }
}
