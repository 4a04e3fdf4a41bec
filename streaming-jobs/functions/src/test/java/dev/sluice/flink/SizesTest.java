package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** Sizes of data through the whole stage. */
class SizesTest {
  private static final String[] SUMS = {"row_spans", "row_sum", "byte_spans", "byte_sum"};

  /** A call of the database that ends at a second after midnight. */
  private static byte[] call(String service, long id, String peer, int endS, long rows) {
    return message(
        service(
            service,
            span(id, Span.CLIENT, 1_000 * endS - 5, 1_000 * endS)
                .addAttributes(attribute("peer.service", peer))
                .addAttributes(intAttribute("db.response.returned_rows", rows))));
  }

  /** "side service peer seconds after midnight" to the sums over the rows that came. */
  private static Map<String, String> sums(Fed fed) throws Exception {
    Map<String, long[]> sums = new TreeMap<>();
    for (Row row : fed.rows(1, "size", "size")) {
      long windowMs = row.<Instant>getFieldAs("window_start").toEpochMilli() - MIDNIGHT_MS;
      String name =
          String.join(
              " ",
              row.<String>getFieldAs("side"),
              row.<String>getFieldAs("service"),
              row.<String>getFieldAs("peer"),
              row.<String>getFieldAs("instance"),
              String.valueOf(windowMs / 1_000));
      long[] sum = sums.computeIfAbsent(name, absent -> new long[SUMS.length]);
      for (int i = 0; i < SUMS.length; i++) {
        sum[i] += row.<Long>getFieldAs(SUMS[i]);
      }
    }
    Map<String, String> texts = new TreeMap<>();
    sums.forEach((name, sum) -> texts.put(name, Arrays.toString(sum)));
    return texts;
  }

  @Test
  void messagesAddUpAndOnesThatComeAgainDoNot() throws Exception {
    Fed fed =
        new Fed()
            .receive(4_000, call("cart", 1, "db", 3, 12))
            .receive(4_100, call("cart", 1, "db", 3, 12))
            .receive(5_000, call("cart", 2, "db", 4, 8))
            .receive(12_000, call("cart", 3, "db", 11, 5));
    assertThat(sums(fed))
        .isEqualTo(
            Map.of(
                "client cart db i-0 0", "[2, 20, 0, 0]", "client cart db i-0 10", "[1, 5, 0, 0]"));
  }

  @Test
  void namesForWhichThereIsNoRoomAreTheRest() throws Exception {
    Fed fed =
        new Fed()
            .with("most-peers", 1)
            .receive(4_000, call("cart", 1, "db", 3, 12))
            .receive(4_100, call("cart", 2, "db-2", 3, 8))
            .receive(4_200, call("cart", 3, "db-3", 3, 5));
    assertThat(sums(fed))
        .isEqualTo(
            Map.of(
                "client cart db i-0 0", "[1, 12, 0, 0]",
                "client cart (more) i-0 0", "[2, 13, 0, 0]"));
  }
}
