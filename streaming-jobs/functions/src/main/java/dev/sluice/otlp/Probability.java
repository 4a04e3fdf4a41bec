package dev.sluice.otlp;

import java.nio.charset.StandardCharsets;

/**
 * How many spans one span stands for: 1/p, where its trace was kept with probability p. Whole
 * numbers of 1/{@value #SCALE}, so that sums are exact in any order; 0 where nothing is said.
 */
final class Probability {
  static final int SCALE = 1_024;

  /** A smaller probability counts as this one: sums of 2^20 such spans fit into 64 bits. */
  private static final double LEAST = 1.0 / (1 << 30);

  private static final int DIGITS = 14;
  private static final long RANGE = 1L << 56;

  private Probability() {}

  /** Worked: 0.1 gives 10,240; 1 gives 1,024; 0, 1.5 and NaN give 0. */
  static long adjusted(double probability) {
    return probability > 0 && probability <= 1
        ? Math.round(SCALE / Math.max(probability, LEAST))
        : 0;
  }

  /**
   * By the rejection threshold of consistent probability sampling in a tracestate: {@code ot=th:T},
   * T of 1 to 14 hexadecimal digits without trailing zeros. Of 2^56 random values, those from T on
   * are kept (OpenTelemetry, "TraceState: Probability Sampling").
   *
   * <p>Worked: {@code th:8} rejects half and gives 2,048; {@code th:0} gives 1,024.
   */
  static long ofTraceState(byte[] bytes, int offset, int length) {
    String text = new String(bytes, offset, length, StandardCharsets.UTF_8);
    for (String member : text.split(",")) {
      String entry = member.strip();
      if (entry.startsWith("ot=")) {
        for (String field : entry.substring(3).split(";")) {
          if (field.startsWith("th:")) {
            return ofThreshold(field.substring(3));
          }
        }
      }
    }
    return 0;
  }

  private static long ofThreshold(String digits) {
    if (digits.isEmpty() || digits.length() > DIGITS) {
      return 0;
    }
    long threshold = 0;
    for (int i = 0; i < DIGITS; i++) {
      int digit = i < digits.length() ? Character.digit(digits.charAt(i), 16) : 0;
      if (digit < 0) {
        return 0;
      }
      threshold = threshold << 4 | digit;
    }
    return adjusted((RANGE - threshold) / (double) RANGE);
  }
}
