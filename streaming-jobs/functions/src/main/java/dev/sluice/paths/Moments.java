package dev.sluice.paths;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.math.BigDecimal;

/**
 * Exact sum and sum of squares of durations in ns, which add up over any span of windows to mean
 * and variance. Both stay at the largest value rather than wrap.
 */
public final class Moments {
  private long sumNs;
  private final Sum128 squares = new Sum128();

  void add(long ns) {
    sumNs = saturated(sumNs + ns);
    squares.addProduct(ns, ns);
  }

  void add(Moments other) {
    sumNs = saturated(sumNs + other.sumNs);
    squares.add(other.squares);
  }

  public long sumNs() {
    return sumNs;
  }

  /** Sum of squares, in ns², as DECIMAL(38, 0). */
  public BigDecimal squares() {
    return squares.toDecimal();
  }

  /** The sum of two numbers that are not negative; the largest one is 292 years. */
  private static long saturated(long sum) {
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  void write(DataOutput out) throws IOException {
    out.writeLong(sumNs);
    squares.write(out);
  }

  void read(DataInput in) throws IOException {
    sumNs = in.readLong();
    squares.read(in);
  }
}
