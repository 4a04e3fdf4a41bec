package dev.sluice.sinks;

/** The part of a write that a store's error blames. */
public enum Fault {
  /** The sink's columns or types: they do not fit the table. */
  SCHEMA,
  /** At least one row: the store would refuse it again. */
  DATA,
  /** The size of the batch: the store may take a smaller one. */
  SIZE,
  /** None of these: the error passes with time, or once an operator corrects the store. */
  PASSING;

  /**
   * The exception that a {@link BatchTarget} throws for this fault.
   *
   * @param answer the store's message, with the table
   */
  public Exception exception(String answer, Exception cause) {
    return switch (this) {
      case SCHEMA -> new TableAtFaultException(answer, cause);
      case DATA -> new RowsRejectedException(answer, cause);
      case SIZE -> new TooLargeException(answer, cause);
      case PASSING -> cause;
    };
  }
}
