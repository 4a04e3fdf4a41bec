package dev.sluice.sinks;

/** The store refuses a write for its size: it may take it in parts. */
public final class TooLargeException extends Exception {
  private static final long serialVersionUID = 1L;

  public TooLargeException(String message, Throwable cause) {
    super(message, cause);
  }
}
