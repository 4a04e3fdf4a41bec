package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.Fault;
import java.util.Set;
import org.neo4j.driver.exceptions.Neo4jException;

/**
 * The fault that an error of the server means.
 *
 * <p>Source: the status codes of Neo4j 5, and the results of storage/tests/test_graph.py.
 */
final class Neo4jFault {
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
  // Another transaction removed an element of this one: the next attempt finds or makes it.
  private static final String REMOVED_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound";

  private Neo4jFault() {}

  static Fault of(String code, String message) {
    if (code == null || code.equals(REMOVED_MEANWHILE)) {
      return Fault.PASSING;
    }
    if (code.equals(BROKEN)) {
      return message.contains(TOO_LONG_A_KEY) ? Fault.DATA : Fault.PASSING;
    }
    if (SIZES.contains(code) || code.startsWith(REQUEST)) {
      return Fault.SIZE;
    }
    return code.startsWith(STATEMENT) ? Fault.DATA : Fault.PASSING;
  }

  /** The error in the form that a {@link dev.sluice.sinks.BatchTarget} throws. */
  static Exception classified(Neo4jException error) {
    String message = error.code() + ": " + error.getMessage();
    return of(error.code(), error.getMessage()).exception(message, error);
  }
}
