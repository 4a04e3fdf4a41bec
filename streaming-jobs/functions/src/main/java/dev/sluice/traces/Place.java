package dev.sluice.traces;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.Use;

/**
 * The role of a span in the fine windows, as a number of two bits, and a bit for sidecars: the
 * flags of {@link RecordWriter} have no room for more.
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

  /** Beside a role of a SERVER or CLIENT span: it is a sidecar's. */
  static final byte SIDECAR = 4;

  private static final byte ROLE = 3;

  private Place() {}

  static byte of(Span span) {
    boolean sidecar =
        span.use() == Use.SIDECAR && (span.kind() == Span.SERVER || span.kind() == Span.CLIENT);
    return sidecar ? (byte) (role(span) | SIDECAR) : role(span);
  }

  /** Whether the span was counted exactly. */
  static boolean isCounted(byte place) {
    return (place & ROLE) == COUNTED || isMovable(place);
  }

  /** Whether the span was counted under a peer that may change. */
  static boolean isMovable(byte place) {
    return (place & ROLE) == MOVABLE;
  }

  /** Of a span from which nothing can be taken back any more. */
  static byte settled(byte place) {
    return (byte) (FIXED | place & SIDECAR);
  }

  private static byte role(Span span) {
    if (!span.isServerSide() && !span.isClientSide()) {
      return NONE;
    }
    if (span.use().counts()) {
      if (span.isShortened()) {
        return FIXED;
      }
      return span.isClientSide() && !span.isPeerNamed() ? MOVABLE : COUNTED;
    }
    return span.use() == Use.LEFT_OUT ? FIXED : NONE;
  }
}
