package dev.sluice.accounting;

import dev.sluice.otlp.Span;
import java.util.Arrays;

/**
 * A span, or a whole message, that could not be used. The topic's record adds topic, partition and
 * offset.
 *
 * @param service empty where it is not known
 * @param traceId hexadecimal, empty for a message, cut to {@value #MAX_ID_DIGITS} digits
 * @param spanId hexadecimal, empty for a message, cut to {@value #MAX_ID_DIGITS} digits
 * @param payload the message that could not be decoded, cut to {@value #MAX_PAYLOAD} bytes; null
 *     for a span
 */
public record DeadLetter(
    Outcome reason, String detail, String service, String traceId, String spanId, byte[] payload) {
  /** A letter must fit into a record, whatever values a span has. */
  private static final int MAX_ID_DIGITS = 128;

  // The topic's limit counts compressed bytes, so a message may be larger. Base64 makes this 5.6
  // MB.
  private static final int MAX_PAYLOAD = 4 << 20;

  public static DeadLetter ofMessage(String detail, byte[] message) {
    if (message.length <= MAX_PAYLOAD) {
      return new DeadLetter(Outcome.MALFORMED_MESSAGE, detail, "", "", "", message);
    }
    String more = "; payload is the first " + MAX_PAYLOAD + " of " + message.length + " bytes";
    byte[] payload = Arrays.copyOf(message, MAX_PAYLOAD);
    return new DeadLetter(Outcome.MALFORMED_MESSAGE, detail + more, "", "", "", payload);
  }

  static DeadLetter ofSpan(Outcome reason, Span span, long recordTimeMs) {
    return new DeadLetter(
        reason,
        detail(reason, span, recordTimeMs),
        span.service(),
        cut(span.traceIdHex()),
        cut(span.spanIdHex()),
        null);
  }

  /**
   * This letter with the number of further letters of its message and reason, for which it stands.
   */
  DeadLetter andMore(long others) {
    String more = detail + "; " + others + " more in this message";
    return new DeadLetter(reason, more, service, traceId, spanId, payload);
  }

  private static String detail(Outcome reason, Span span, long recordTimeMs) {
    return switch (reason) {
      case TOO_LARGE -> span.droppedBytes() + " bytes, more than a message of the topic can hold";
      case MISSING_SERVICE -> "resource has no service.name";
      case BAD_ID -> "trace id must have 16 bytes, span id 8, parent id 0 or 8, none all zero";
      default ->
          "start "
              + Long.toUnsignedString(span.startNs())
              + " ns, end "
              + Long.toUnsignedString(span.endNs())
              + " ns, received "
              + recordTimeMs
              + " ms";
    };
  }

  private static String cut(String id) {
    return id.length() <= MAX_ID_DIGITS ? id : id.substring(0, MAX_ID_DIGITS);
  }
}
