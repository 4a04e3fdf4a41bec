package dev.sluice.sinks;

/** The store refuses what was written, and would refuse it again: at least one row is at fault. */
public final class RowsRejectedException extends Exception {
  private static final long serialVersionUID = 1L;

  public RowsRejectedException(String message, Throwable cause) {
    super(message, cause);
  }
}
