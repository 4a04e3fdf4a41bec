package dev.sluice.sinks.neo4j;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.sinks.Fault;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Neo4jFaultTest {
  @ParameterizedTest
  @CsvSource({
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError, SIZE",
    "Neo.TransientError.General.OutOfMemoryError, SIZE",
    "Neo.TransientError.General.TransactionOutOfMemoryError, SIZE",
    "Neo.ClientError.Transaction.TransactionTimedOut, SIZE",
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration, SIZE",
    "Neo.ClientError.Request.Invalid, SIZE",
    "Neo.ClientError.Statement.TypeError, DATA",
    "Neo.ClientError.Statement.SemanticError, DATA",
    "Neo.ClientError.Statement.EntityNotFound, PASSING",
    "Neo.ClientError.Schema.ConstraintValidationFailed, PASSING",
    "Neo.ClientError.Security.Unauthorized, PASSING",
    "Neo.TransientError.Transaction.DeadlockDetected, PASSING",
    "Neo.DatabaseError.Statement.ExecutionFailed, PASSING",
    ", PASSING",
  })
  void aCodeBlamesAPartOfTheWrite(String code, Fault fault) {
    assertThat(Neo4jFault.of(code, "a message")).isEqualTo(fault);
  }

  @ParameterizedTest
  @CsvSource({
    "Property value is too large to index, DATA",
    "No space left on device, PASSING",
  })
  void aKeyThatIsTooLongIsTheData(String message, Fault fault) {
    assertThat(Neo4jFault.of("Neo.DatabaseError.Statement.ExecutionFailed", message))
        .isEqualTo(fault);
  }
}
