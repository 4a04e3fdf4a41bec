package dev.sluice.flink;

import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Repeats through the whole stage, with one task and with several. The repeat window is 10 s. */
class RepeatedMessagesTest {
  private final Fed fed = new Fed();

  /** A message of one span of a service (null: a tombstone). */
  private void receive(long afterMs, int partition, String name) {
    fed.receive(
        afterMs,
        partition,
        name == null ? null : message(service(name, span(1, Span.SERVER, 0, 1))));
  }

  /** Spans, or messages without any, by "outcome service". */
  private Map<String, Long> counted(int parallelism) throws Exception {
    Map<String, Long> sums = new TreeMap<>();
    for (Row row : fed.rows(parallelism, "counted", "sample")) {
      sums.merge(
          row.getField("outcome") + " " + row.getField("service"),
          row.<Long>getFieldAs("spans") + row.<Long>getFieldAs("messages"),
          Long::sum);
    }
    return sums;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void sameBytesWithinTheWindowAreARepeatFromWhateverPartition(int tasks) throws Exception {
    receive(0, 0, "a");
    receive(1, 0, "b");
    receive(2, 1, "a");
    receive(9_999, 2, "a");
    assertThat(counted(tasks))
        .isEqualTo(Map.of("accepted a", 1L, "accepted b", 1L, "repeated_message a", 2L));
  }

  @Test
  void windowBeginsAnewAfterItsEnd() throws Exception {
    // The window of the first is 0 to 10 s, whether its timer has fired or not; that of the third
    // 10 to 20.
    receive(0, 0, "a");
    receive(5_000, 0, "a");
    receive(10_000, 0, "a");
    receive(19_999, 0, "a");
    receive(40_000, 0, "b");
    receive(40_001, 0, "a");
    assertThat(counted(1))
        .isEqualTo(Map.of("accepted a", 3L, "accepted b", 1L, "repeated_message a", 2L));
  }

  @Test
  void partitionThatIsReadBehindShowsTheRepeatFirst() throws Exception {
    receive(8_000, 1, "a");
    receive(0, 0, "a");
    assertThat(counted(1)).isEqualTo(Map.of("accepted a", 1L, "repeated_message a", 1L));
  }

  @Test
  void withoutAWindowNothingIsARepeat() throws Exception {
    fed.with("repeat-window-ms", 0);
    receive(0, 0, "a");
    receive(1, 0, "a");
    assertThat(counted(1)).isEqualTo(Map.of("accepted a", 2L));
  }

  @Test
  void tombstonesPass() throws Exception {
    receive(0, 0, null);
    receive(1, 0, null);
    assertThat(counted(1)).isEqualTo(Map.of("malformed_message ", 2L));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void clockRecordsAreNeitherMessagesNorRepeats(int tasks) throws Exception {
    receive(0, 0, "a");
    fed.receive(1, 0, new byte[0]).receive(1, 1, new byte[0]).receive(2, 0, new byte[0]);
    receive(3, 1, "b");
    assertThat(counted(tasks)).isEqualTo(Map.of("accepted a", 1L, "accepted b", 1L));
    // They take offsets, which are known: none is missing.
    assertThat(fed.rows(tasks, "position", "sample")).hasSize(5);
  }
}
