package dev.sluice.rules;

import dev.sluice.otlp.Use;

/**
 * One kind of spans that the fine windows do not count, or that rules set apart among those
 * counted.
 *
 * @param side as in {@code windows.side}
 * @param peer as in {@code windows.peer} when a span is read
 * @param operation a span's name, "" where the number of names is not bounded
 * @param action the reason: an action of a rule, or {@link #NESTED}
 * @param rule its name, or {@link #NESTED}
 */
public record LeftOutKey(
    String side, String service, String peer, String operation, String action, String rule) {
  /** The span is within another that holds the same place. */
  public static final String NESTED = "nested";

  /** The name of an action in the rules file and in the table. */
  static String action(Use use) {
    return switch (use) {
      case HELD -> "count";
      case LEFT_OUT -> "leave_out";
      case WAITING -> "waiting";
      case AROUND -> "around";
      case NOT_A_POOL -> "not_a_pool";
      case SIDECAR -> "sidecar";
    };
  }
}
