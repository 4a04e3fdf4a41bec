package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.RowsRejectedException;
import dev.sluice.sinks.TooLargeException;
import java.util.Set;
import org.neo4j.driver.exceptions.Neo4jException;

/**
 * What an error of the server blames.
 *
 * <p>Source: the status codes of Neo4j 5, and the results of storage/tests/test_graph.py.
 */
enum Neo4jFault {
  /** The transaction: a smaller one may succeed. */
  SIZE,
  /** The data: a value of no property type, a key that is null or too long. */
  DATA,
  /** Neither: it passes with time or with an operator's help. */
  PASSING;

  private static final Set<String> SIZES =
      Set.of(
          "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
          "Neo.TransientError.General.OutOfMemoryError",
          "Neo.TransientError.General.StackOverFlowError",
          "Neo.TransientError.General.TransactionMemoryLimit",
          "Neo.TransientError.General.TransactionOutOfMemoryError",
          "Neo.ClientError.Transaction.TransactionTimedOut",
          "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration");
  private static final String REQUEST = "Neo.ClientError.Request.";
  private static final String STATEMENT = "Neo.ClientError.Statement.";
  // The code of any internal error of the server; one of these is known to be the data's fault.
  private static final String BROKEN = "Neo.DatabaseError.Statement.ExecutionFailed";
  private static final String TOO_LONG_A_KEY = "too large to index";
  // Another transaction removed an element that this one had found: the next attempt finds or makes
  // it.
  private static final String REMOVED_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound";

  static Neo4jFault of(String code, String message) {
    if (code == null || code.equals(REMOVED_MEANWHILE)) {
      return PASSING;
    }
    if (code.equals(BROKEN)) {
      return message.contains(TOO_LONG_A_KEY) ? DATA : PASSING;
    }
    if (SIZES.contains(code) || code.startsWith(REQUEST)) {
      return SIZE;
    }
    return code.startsWith(STATEMENT) ? DATA : PASSING;
  }

  /** The error in the form that a {@link dev.sluice.sinks.BatchTarget} throws. */
  static Exception classified(Neo4jException error) {
    String message = error.code() + ": " + error.getMessage();
    return switch (of(error.code(), error.getMessage())) {
      case SIZE -> new TooLargeException(message, error);
      case DATA -> new RowsRejectedException(message, error);
      case PASSING -> error;
    };
  }
}
