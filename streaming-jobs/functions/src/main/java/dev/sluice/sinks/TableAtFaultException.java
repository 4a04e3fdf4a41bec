package dev.sluice.sinks;

/**
 * The store refuses every row, not some: its table, or the statement, is not what the job was made
 * for. Giving rows up would lose all of them, and waiting in silence would hide it, so the job
 * fails: it starts again and again from its last checkpoint, and goes on when the table is put
 * right.
 */
public final class TableAtFaultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public TableAtFaultException(String message, Throwable cause) {
    super(message + "; nothing is lost: the job goes on once this is put right", cause);
  }
}
