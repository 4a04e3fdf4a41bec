package dev.sluice.sinks.clickhouse;

import java.util.Set;

/**
 * The server's error codes that blame the data. Every other code (no memory, too many parts, table
 * not created yet, read-only, ...) passes with time or with an operator, and is worth waiting for.
 *
 * <p>Source: src/Common/ErrorCodes.cpp of ClickHouse.
 */
final class DataErrors {
  private static final Set<Integer> CODES =
      Set.of(
          6, // CANNOT_PARSE_TEXT
          27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
          32, // ATTEMPT_TO_READ_AFTER_EOF
          33, // CANNOT_READ_ALL_DATA
          38, // CANNOT_PARSE_DATE
          41, // CANNOT_PARSE_DATETIME
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

  private DataErrors() {}

  static boolean isFaultOfData(int code) {
    return CODES.contains(code);
  }
}
