package dev.sluice.samples;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;
import static org.assertj.core.data.Percentage.withPercentage;

import dev.sluice.latency.LatencyIndex;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.traces.FragmentAccumulator;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import dev.sluice.windows.WindowSums;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class OwnTimesTest {
  private static final long WINDOW_MS = 10_000;
  private static final Offset<Double> NEAR = offset(1e-6);

  private static io.opentelemetry.proto.trace.v1.Span.Builder below(
      long parent, long id, int kind, double startMs, double endMs) {
    return span(id, kind, startMs, endMs).setParentSpanId(id(parent, 8));
  }

  private static Map<String, Sample> samples(ResourceSpans... resources) throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(MIDNIGHT_MS);
    new TraceRequestDecoder().decode(message(resources), accumulator::accept);
    List<TraceSpan> spans = new ArrayList<>();
    accumulator.forEach((id, fragment) -> spans.addAll(fragment));
    WindowSums<Site, Sample> sums = new WindowSums<>();
    OwnTimes.add(Trace.assemble(spans, 100), WINDOW_MS, sums);
    Map<String, Sample> samples = new HashMap<>();
    sums.forEach(
        (site, sample) ->
            samples.put(site.service() + " " + (sample.windowMs() - MIDNIGHT_MS) / 1000, sample));
    return samples;
  }

  /**
   * The own time of the only request of "cart" in the first window, which holds the spans given.
   */
  private static double ownMs(io.opentelemetry.proto.trace.v1.Span.Builder... spans)
      throws Exception {
    Sample sample = samples(service("cart", spans)).get("cart 0");
    assertThat(sample.requests()).isEqualTo(1);
    return Math.exp(sample.lnSum() / 1e9) / MS;
  }

  @Test
  void itsWaitIsTheUnionOfTheCallsWithinIt() throws Exception {
    double own =
        ownMs(
            span(1, Span.SERVER, 0, 100),
            below(1, 2, Span.CLIENT, 10, 40),
            below(1, 3, Span.PRODUCER, 30, 60),
            below(1, 4, Span.INTERNAL, 80, 130),
            below(4, 5, Span.CLIENT, 90, 120),
            below(1, 6, Span.CLIENT, 120, 130));
    assertThat(own).isCloseTo(40, NEAR);
  }

  @Test
  void aCallOfOneThatShowsNoClientSpanIsTimedByTheCalled() throws Exception {
    Map<String, Sample> samples =
        samples(
            service("cart", span(1, Span.SERVER, 0, 100), below(1, 3, Span.SERVER, 70, 80)),
            service("stock", below(1, 2, Span.INTERNAL, 20, 50)));
    assertThat(samples.keySet()).containsExactly("cart 0");
    assertThat(samples.get("cart 0").requests()).isEqualTo(2);
    // 100 - 30 - 10 and 10.
    assertThat(Math.exp(samples.get("cart 0").lnSum() / 1e9))
        .isCloseTo(60e6 * 10e6, withPercentage(1e-6));
  }

  @Test
  void nobodyWaitsForConsumersOrForWhatIsBelowCalls() throws Exception {
    double own =
        ownMs(
            span(1, Span.SERVER, 0, 100),
            below(1, 2, Span.CLIENT, 10, 20),
            below(2, 3, Span.INTERNAL, 10, 90));
    assertThat(own).isCloseTo(90, NEAR);
    Map<String, Sample> samples =
        samples(
            service("cart", span(1, Span.SERVER, 0, 100)),
            service("mail", below(1, 2, Span.CONSUMER, 20, 12_000)));
    assertThat(Math.exp(samples.get("cart 0").lnSum() / 1e9) / MS).isCloseTo(100, NEAR);
    assertThat(samples).doesNotContainKey("mail 10");
  }

  @Test
  void lessThanMicrosecondCountsAsOne() throws Exception {
    Sample sample =
        samples(service("cart", span(1, Span.SERVER, 0, 5), below(1, 2, Span.CLIENT, 0, 5)))
            .get("cart 0");
    assertThat(sample.lnSum()).isEqualTo(Math.round(Math.log(1_000) * 1e9));
    assertThat(sample.latency().toMap()).isEqualTo(Map.of((short) LatencyIndex.of(1_000), 1));
  }

  @Test
  void ringOfParentsEnds() throws Exception {
    double own = ownMs(below(2, 1, Span.SERVER, 0, 100), below(1, 2, Span.INTERNAL, 10, 90));
    assertThat(own).isCloseTo(100, NEAR);
  }
}
