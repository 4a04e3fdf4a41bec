package dev.sluice.otlp;

/**
 * The bytes are not an ExportTraceServiceRequest. Decoding throws no other exception for any bytes.
 * It carries no stack trace: bad input may come at the rate of good input.
 */
public final class MalformedMessageException extends Exception {
  public MalformedMessageException(String message) {
    super(message, null, false, false);
  }
}
