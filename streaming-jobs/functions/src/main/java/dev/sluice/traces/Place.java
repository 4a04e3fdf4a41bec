package dev.sluice.traces;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.Use;

/**
 * The role of a span in the fine windows, as a number of two bits: a {@link TraceSpan} has no room
 * for more.
 */
public final class Place {
  /**
   * It is in no window, and no span is nested in it: spans below it count as if it did not exist.
   */
  public static final byte NONE = 0;

  /**
   * It was counted exactly as {@link dev.sluice.windows.Spread} defines, and stays with its peer.
   */
  static final byte COUNTED = 1;

  /** The same for a client span without a service as its peer: its trace may show another peer. */
  static final byte MOVABLE = 2;

  /** It was left out, or counted in part: nothing of it can be taken back. */
  static final byte FIXED = 3;

  private Place() {}

  static byte of(Span span) {
    if (!span.isServerSide() && !span.isClientSide()) {
      return NONE;
    }
    if (span.use() == Use.HELD) {
      if (span.isShortened()) {
        return FIXED;
      }
      return span.isClientSide() && !span.isPeerNamed() ? MOVABLE : COUNTED;
    }
    return span.use() == Use.LEFT_OUT ? FIXED : NONE;
  }
}
