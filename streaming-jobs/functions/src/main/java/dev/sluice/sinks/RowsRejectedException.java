package dev.sluice.sinks;

/** The store refuses a write, and would refuse it again: at least one row is at fault. */
public final class RowsRejectedException extends Exception {
  private static final long serialVersionUID = 1L;

  /** A value does not fit into its column: the row was not sent. */
  public static final String NOT_ENCODABLE = "not_encodable";

  /** The store refused it: a constraint, a key that is too long. */
  public static final String REFUSED = "refused";

  /** Too large for the store, alone and several times. */
  public static final String TOO_LARGE = "too_large";

  private final String reason;

  /** With reason {@link #REFUSED}. */
  public RowsRejectedException(String message, Throwable cause) {
    this(REFUSED, message, cause);
  }

  public RowsRejectedException(String reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** One of the constants. */
  public String reason() {
    return reason;
  }
}
