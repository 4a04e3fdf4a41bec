package dev.sluice.paths;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * An exact sum of products of durations, in ns²: an unsigned number of 128 bits.
 *
 * <p>The square of one hour is 1.3e25 ns², more than 64 bits (1.8e19) can hold. Sums never wrap:
 * they stay at the largest number, in any order and any grouping of the same products.
 */
final class Sum128 {
  /** The largest value of DECIMAL(38, 0): a sum above it is shown as this. */
  static final BigInteger MAX_SHOWN = BigInteger.TEN.pow(38).subtract(BigInteger.ONE);

  private static final BigInteger LOW_BITS = BigInteger.ONE.shiftLeft(Long.SIZE);

  // Unsigned.
  private long high;
  private long low;

  /** Adds {@code a * b}; neither is negative. */
  void addProduct(long a, long b) {
    add(Math.multiplyHigh(a, b), a * b);
  }

  void add(Sum128 other) {
    add(other.high, other.low);
  }

  private void add(long otherHigh, long otherLow) {
    low += otherLow;
    long carry = Long.compareUnsigned(low, otherLow) < 0 ? 1 : 0;
    long sum = high + otherHigh;
    boolean wraps = Long.compareUnsigned(sum, high) < 0 || (sum == -1 && carry == 1);
    high = sum + carry;
    if (wraps) {
      high = -1;
      low = -1;
    }
  }

  /** The sum as DECIMAL(38, 0). */
  BigDecimal toDecimal() {
    BigInteger value = unsigned(high).multiply(LOW_BITS).add(unsigned(low));
    return new BigDecimal(value.min(MAX_SHOWN));
  }

  private static BigInteger unsigned(long bits) {
    BigInteger value = BigInteger.valueOf(bits);
    return bits < 0 ? value.add(LOW_BITS) : value;
  }

  void write(DataOutput out) throws IOException {
    out.writeLong(high);
    out.writeLong(low);
  }

  void read(DataInput in) throws IOException {
    high = in.readLong();
    low = in.readLong();
  }
}
