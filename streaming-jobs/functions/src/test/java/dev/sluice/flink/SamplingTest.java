package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.otlp.Span;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** What spans say of samplers, through the whole stage. */
class SamplingTest {
  @Test
  void aServicesSpansOfOneWindowAreARow() throws Exception {
    Fed fed =
        new Fed()
            .receive(
                11_000,
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 0, 1).setTraceState("ot=th:8"),
                        span(2, Span.INTERNAL, 0, 1))));
    List<Row> rows = fed.rows(1, "sampling", "sampling");
    assertThat(rows).hasSize(1);
    Row row = rows.get(0);
    assertThat(row.<String>getFieldAs("service")).isEqualTo("cart");
    assertThat(row.<Instant>getFieldAs("window_start").toEpochMilli())
        .isEqualTo(MIDNIGHT_MS + 10_000);
    assertThat(row.<Long>getFieldAs("spans")).isEqualTo(2);
    assertThat(row.<Long>getFieldAs("stated")).isEqualTo(1);
    assertThat(row.<Long>getFieldAs("adjusted")).isEqualTo(3 * 1_024);
    assertThat(row.<Long>getFieldAs("tail")).isZero();
    assertThat(row.<Long>getFieldAs("most_63")).isEqualTo(1);
    assertThat(row.<Long>getFieldAs("least_head")).isZero();
    LatencyHistogram bytes = new LatencyHistogram();
    bytes.merge(row.<byte[]>getFieldAs("last_bytes"));
    assertThat(bytes.toMap()).isEqualTo(Map.of((short) 1, 2));
  }
}
