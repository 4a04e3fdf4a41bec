package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.sinks.Fault;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClickHouseFaultTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "16; 404; No such column errors in table sluice.windows; SCHEMA",
        "117; 400; Type of 'completions' must be UInt64, not UInt32; SCHEMA",
        "117; 400; Unexpected value; DATA",
        "469; 500; Constraint `c` for table sluice.windows is violated; DATA",
        "241; 500; (total) memory limit exceeded; SIZE",
        "252; 500; Too many partitions for single INSERT block (more than 100); SIZE",
        "252; 500; Too many parts (3000). Merges are processing slower than inserts; PASSING",
        "0; 413; Request Entity Too Large; SIZE",
        "60; 404; Table sluice.windows does not exist; PASSING",
        "242; 500; Table is in readonly mode; PASSING",
        "516; 403; Authentication failed; PASSING"
      })
  void aCodeBlamesAPartOfTheWrite(int code, int status, String message, Fault expected) {
    assertThat(ClickHouseFault.of(code, status, message)).isEqualTo(expected);
  }
}
