package dev.sluice.otlp;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether a span's completion is an error, by its status and its response code.
 *
 * <p>The semantic conventions leave the status of a server's span unset for HTTP 4xx and set it to
 * ERROR on the client's span of the same call (HTTP spans, "Status"); so the status alone would
 * blame a callee for its caller's faults, and would overlook a server that rejects requests. The
 * code decides if it shows the side at fault:
 *
 * <ul>
 *   <li>the caller is at fault, so there is no error, whatever the status: HTTP 4xx except 408 and
 *       429, with 499 (the caller hung up); of gRPC CANCELLED, INVALID_ARGUMENT, NOT_FOUND,
 *       ALREADY_EXISTS, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE, UNAUTHENTICATED;
 *   <li>the callee is at fault, so there is an error, whatever the status: HTTP 5xx, 408 and 429;
 *       of gRPC DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE;
 *   <li>for all other codes the status decides: ERROR is an error.
 * </ul>
 *
 * A gRPC call that fails is HTTP 200 all the same, so the RPC's code overrides HTTP's.
 */
final class ResponseCode {
  /** The span has no code. */
  static final int NONE = -1;

  private static final int MOST_HTTP = 599;

  /** The codes of gRPC (google.rpc.Code) by number; Connect writes them in small letters. */
  private static final List<String> RPC =
      List.of(
          "OK",
          "CANCELLED",
          "UNKNOWN",
          "INVALID_ARGUMENT",
          "DEADLINE_EXCEEDED",
          "NOT_FOUND",
          "ALREADY_EXISTS",
          "PERMISSION_DENIED",
          "RESOURCE_EXHAUSTED",
          "FAILED_PRECONDITION",
          "ABORTED",
          "OUT_OF_RANGE",
          "UNIMPLEMENTED",
          "INTERNAL",
          "UNAVAILABLE",
          "DATA_LOSS",
          "UNAUTHENTICATED");

  private static final Map<String, Integer> BY_NAME = new HashMap<>();

  static {
    for (int code = 0; code < RPC.size(); code++) {
      BY_NAME.put(RPC.get(code), code);
      BY_NAME.put(RPC.get(code).toLowerCase(Locale.ROOT), code);
      BY_NAME.put(String.valueOf(code), code);
    }
    BY_NAME.put("CANCELED", 1);
    BY_NAME.put("canceled", 1);
  }

  private ResponseCode() {}

  /** A status of HTTP as it is, or {@link #NONE} for any other number. */
  static int http(long number) {
    return number >= 100 && number <= MOST_HTTP ? (int) number : NONE;
  }

  /** The same, in text. */
  static int http(String text) {
    if (text.length() != 3) {
      return NONE;
    }
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return NONE;
      }
      number = 10 * number + digit;
    }
    return http(number);
  }

  /** A code of gRPC as it is, or {@link #NONE} for any other number. */
  static int rpc(long number) {
    return number >= 0 && number < RPC.size() ? (int) number : NONE;
  }

  /** The same, by its name or as text. */
  static int rpc(String text) {
    return BY_NAME.getOrDefault(text, NONE);
  }

  /**
   * Whether a completion is an error.
   *
   * @param failed whether the span's status is ERROR
   * @param http or {@link #NONE}
   * @param rpc or {@link #NONE}
   */
  static boolean isError(boolean failed, int http, int rpc) {
    if (rpc != NONE) {
      return switch (rpc) {
        case 4, 8, 13, 14 -> true;
        case 1, 3, 5, 6, 7, 9, 11, 16 -> false;
        default -> failed;
      };
    }
    if (http >= 400) {
      return http >= 500 || http == 408 || http == 429;
    }
    return failed;
  }
}
