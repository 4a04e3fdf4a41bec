package dev.sluice.rules;

import dev.sluice.otlp.Use;

/**
 * Spans that the fine windows do not count, of one kind.
 *
 * @param side as in {@code windows.side}
 * @param peer as {@code windows.peer} has it when a span is read
 * @param operation a span's name, "" where nobody bounds how many there are
 * @param action why: an action of a rule, or {@link #NESTED}
 * @param rule its name, or {@link #NESTED}
 */
public record Left(
    String side, String service, String peer, String operation, String action, String rule) {
  /** The span stands within another that holds the same place. */
  public static final String NESTED = "nested";

  /** The name of an action in the file of rules, and in the table. */
  static String action(Use use) {
    return switch (use) {
      case HELD -> "count";
      case LEFT_OUT -> "leave_out";
      case WAITING -> "waiting";
      case AROUND -> "around";
    };
  }
}
