package dev.sluice.samples;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SampleAccumulatorTest {
  /** Requests, errors, sum of ln, sum of ln^2 (1e-9), durations in the histogram. */
  private record Row(long requests, long errors, long lnSum, long lnSum2, long recorded) {}

  /** "service instance host seconds after midnight" to its row. */
  private static Map<String, Row> rows(byte[] message) throws Exception {
    SampleAccumulator samples = new SampleAccumulator(10_000);
    new TraceRequestDecoder().decode(message, samples::accept);
    Map<String, Row> rows = new TreeMap<>();
    samples.forEach(
        (site, sample) ->
            rows.put(
                String.join(
                    " ",
                    site.service(),
                    site.instance(),
                    site.host(),
                    String.valueOf((sample.windowMs() - MIDNIGHT_MS) / 1000)),
                new Row(
                    sample.requests(),
                    sample.errors(),
                    sample.lnSum(),
                    sample.lnSum2(),
                    sample.latency().total())));
    return rows;
  }

  @Test
  void momentsOfOneAndFourMilliseconds() throws Exception {
    // ln 1e6 = 13.815510558, squared 190.868331977; ln 4e6 = 15.201804919, squared 231.094872798
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 0, 1),
                        failed(span(2, Span.CONSUMER, 10, 14))))))
        .isEqualTo(Map.of("cart i-0  0", new Row(2, 1, 29_017_315_477L, 421_963_204_775L, 2)));
  }

  @Test
  void zeroNanosecondsCountAsOne() throws Exception {
    assertThat(rows(message(service("cart", span(1, Span.SERVER, 5, 5)))))
        .isEqualTo(Map.of("cart i-0  0", new Row(1, 0, 0, 0, 1)));
  }

  @Test
  void onlyTheServersOwnRequestsCount() throws Exception {
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.CLIENT, 0, 1),
                        span(2, Span.PRODUCER, 0, 1),
                        span(3, Span.INTERNAL, 0, 1)))))
        .isEmpty();
  }

  @Test
  void theWindowIsThatOfTheEndAndHalfOpen() throws Exception {
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 0, 9_999),
                        span(2, Span.SERVER, 9_000, 10_000),
                        span(3, Span.SERVER, 0, 19_999)))))
        .containsOnlyKeys("cart i-0  0", "cart i-0  10")
        .extractingByKey("cart i-0  10")
        .extracting(Row::requests)
        .isEqualTo(2L);
  }

  @Test
  void instancesAndHostsStayApart() throws Exception {
    byte[] message =
        message(
            resource(
                List.of(
                    attribute("service.name", "cart"),
                    attribute("k8s.pod.name", "cart-0"),
                    attribute("k8s.node.name", "node-1")),
                span(1, Span.SERVER, 0, 1)),
            resource(
                List.of(
                    attribute("service.name", "cart"),
                    attribute("k8s.pod.name", "cart-1"),
                    attribute("k8s.node.name", "node-1")),
                span(2, Span.SERVER, 0, 1)),
            resource(
                List.of(
                    attribute("service.name", "cart"),
                    attribute("k8s.pod.name", "cart-1"),
                    attribute("k8s.node.name", "node-2")),
                span(3, Span.SERVER, 0, 1)));
    assertThat(rows(message))
        .containsOnlyKeys("cart cart-0 node-1 0", "cart cart-1 node-1 0", "cart cart-1 node-2 0");
  }

  @Test
  void theLongestTimesDoNotOverflowForMillionsOfRequests() {
    Sample sample = new Sample(0);
    sample.add(Long.MAX_VALUE, false);
    assertThat(sample.lnSum2()).isEqualTo(1_906_918_012_241L);
    assertThat(Math.multiplyExact(sample.lnSum2(), 4_800_000L)).isPositive();
  }
}
