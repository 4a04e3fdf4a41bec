package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.ServerException;
import dev.sluice.sinks.Fault;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The fault that a server's error means for an insert. Sources: src/Common/ErrorCodes.cpp of
 * ClickHouse, and messages that its server gave.
 */
final class ClickHouseFault {
  private static final Set<Integer> SCHEMA_CODES =
      Set.of(
          8, // THERE_IS_NO_COLUMN
          10, // NOT_FOUND_COLUMN_IN_BLOCK
          16, // NO_SUCH_COLUMN_IN_TABLE
          20, // NUMBER_OF_COLUMNS_DOESNT_MATCH
          44); // ILLEGAL_COLUMN
  private static final Set<Integer> DATA_CODES =
      Set.of(
          6, // CANNOT_PARSE_TEXT
          27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
          32, // ATTEMPT_TO_READ_AFTER_EOF
          33, // CANNOT_READ_ALL_DATA
          38, // CANNOT_PARSE_DATE
          41, // CANNOT_PARSE_DATETIME
          43, // ILLEGAL_TYPE_OF_ARGUMENT, of a default, a constraint or a view
          47, // UNKNOWN_IDENTIFIER, in a view
          53, // TYPE_MISMATCH
          69, // ARGUMENT_OUT_OF_BOUND
          70, // CANNOT_CONVERT_TYPE
          72, // CANNOT_PARSE_NUMBER
          117, // INCORRECT_DATA
          131, // TOO_LARGE_STRING_SIZE
          321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
          349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
          469, // VIOLATED_CONSTRAINT
          691); // UNKNOWN_ELEMENT_OF_ENUM
  private static final int INCORRECT_DATA = 117;
  private static final Set<Integer> SIZE_CODES =
      Set.of(
          128, // TOO_LARGE_ARRAY_SIZE
          158, // TOO_MANY_ROWS
          173, // CANNOT_ALLOCATE_MEMORY
          241, // MEMORY_LIMIT_EXCEEDED
          307, // TOO_MANY_BYTES
          396); // TOO_MANY_ROWS_OR_BYTES
  private static final int TOO_MANY_PARTS = 252;
  private static final int PAYLOAD_TOO_LARGE = 413; // HTTP status, of a proxy

  private static final Pattern WRONG_TYPE = Pattern.compile("Type of '.*' must be .*, not ");
  // The same code as for parts that wait to be merged, which passes.
  private static final Pattern PARTITIONS =
      Pattern.compile("Too many partitions for single INSERT block");

  private ClickHouseFault() {}

  static Fault of(ServerException e) {
    return of(e.getCode(), e.getTransportProtocolCode(), String.valueOf(e.getMessage()));
  }

  /**
   * @param code the server's, 0 if it gave none
   * @param status of HTTP
   */
  static Fault of(int code, int status, String message) {
    if (SCHEMA_CODES.contains(code)
        || (code == INCORRECT_DATA && WRONG_TYPE.matcher(message).find())) {
      return Fault.SCHEMA;
    }
    if (DATA_CODES.contains(code)) {
      return Fault.DATA;
    }
    if (SIZE_CODES.contains(code)
        || status == PAYLOAD_TOO_LARGE
        || (code == TOO_MANY_PARTS && PARTITIONS.matcher(message).find())) {
      return Fault.SIZE;
    }
    return Fault.PASSING;
  }
}
