package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** How late the spans of instances come, through the whole stage. */
class DelaysTest {
  /**
   * "service instance seconds after midnight" to "spans least sum", over the rows that came, in ms.
   */
  private static Map<String, String> delays(Fed fed) throws Exception {
    Map<String, long[]> sums = new TreeMap<>();
    for (Row row : fed.rows(1, "delay", "delay")) {
      long windowMs = row.<Instant>getFieldAs("window_start").toEpochMilli() - MIDNIGHT_MS;
      String name =
          String.join(
              " ",
              row.<String>getFieldAs("service"),
              row.<String>getFieldAs("instance"),
              String.valueOf(windowMs / 1_000));
      long[] sum = sums.computeIfAbsent(name, absent -> new long[] {0, Long.MAX_VALUE, 0});
      sum[0] += row.<Long>getFieldAs("spans");
      sum[1] = Math.min(sum[1], row.<Long>getFieldAs("least_ms"));
      sum[2] += row.<Long>getFieldAs("sum_ms");
    }
    Map<String, String> texts = new TreeMap<>();
    sums.forEach((name, sum) -> texts.put(name, sum[0] + " " + sum[1] + " " + sum[2]));
    return texts;
  }

  @Test
  void aSpanThatEndsAfterItCameIsOfAClockThatIsAhead() throws Exception {
    // 300 and 100 ms late, then 900 ms early: the window is that of the log's time, not of the end.
    Fed fed =
        new Fed()
            .receive(
                9_000,
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 8_000, 8_700),
                        span(2, Span.INTERNAL, 8_000, 8_900)),
                    service("fast", span(3, Span.CLIENT, 9_000, 9_900.5))))
            .receive(9_900, message(service("cart", span(4, Span.SERVER, 9_000, 9_850))))
            .receive(10_100, message(service("fast", span(5, Span.CLIENT, 10_000, 11_000))));
    assertThat(delays(fed))
        .isEqualTo(
            Map.of(
                "cart i-0 0", "3 50 450",
                "fast i-0 0", "1 -900 -900",
                "fast i-0 10", "1 -900 -900"));
  }

  @Test
  void aRepeatIsNotLate() throws Exception {
    byte[] message = message(service("cart", span(1, Span.SERVER, 0, 1_000)));
    Fed fed = new Fed().receive(1_200, message).receive(8_000, message);
    assertThat(delays(fed)).isEqualTo(Map.of("cart i-0 0", "1 200 200"));
  }
}
