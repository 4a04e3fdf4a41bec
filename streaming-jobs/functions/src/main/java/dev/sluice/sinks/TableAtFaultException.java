package dev.sluice.sinks;

/**
 * The store refuses every row, not only some: its table, or the statement, does not fit the job.
 * Dropping rows would lose all of them, and waiting would hide the fault, so the job fails. It
 * restarts from its last checkpoint again and again, and continues when the table is corrected.
 */
public final class TableAtFaultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public TableAtFaultException(String message, Throwable cause) {
    super(message + "; nothing is lost: the job continues once this is corrected", cause);
  }
}
