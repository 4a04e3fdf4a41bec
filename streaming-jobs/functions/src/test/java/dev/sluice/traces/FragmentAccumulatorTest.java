package dev.sluice.traces;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.windows.Spread;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FragmentAccumulatorTest {
  private static final int MANY = 20_001;

  @Test
  void aFragmentHasSoManySpansAtMost() throws Exception {
    var many = new io.opentelemetry.proto.trace.v1.Span.Builder[MANY];
    for (int i = 0; i < MANY; i++) {
      many[i] = span(i + 1, Span.INTERNAL, 0, 1);
    }
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000);
    new TraceRequestDecoder()
        .decode(
            message(resource(List.of(attribute("service.name", "a")), many)), accumulator::accept);
    List<Long> ids = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    accumulator.forEach(
        (trace, spans) -> {
          sizes.add(spans.size());
          spans.forEach(span -> ids.add(span.spanId()));
        });
    assertThat(sizes).containsExactly(10_000, 10_000, 1);
    assertThat(ids).doesNotHaveDuplicates();
  }

  @Test
  void aMessageOfManyTracesLeavesNothingBehind() throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator(20_000);
    for (int traces : new int[] {2_000, 1}) {
      var many = new io.opentelemetry.proto.trace.v1.Span.Builder[traces];
      for (int i = 0; i < traces; i++) {
        many[i] = span(i + 1, Span.INTERNAL, 0, 1).setTraceId(id(i + 1, 16));
      }
      accumulator.clear();
      new TraceRequestDecoder()
          .decode(
              message(resource(List.of(attribute("service.name", "a")), many)),
              accumulator::accept);
      List<Integer> sizes = new ArrayList<>();
      accumulator.forEach((trace, spans) -> sizes.add(spans.size()));
      assertThat(sizes).hasSize(traces).containsOnly(1);
    }
  }

  @Test
  void aKindOfALaterVersionIsNone() throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000);
    new TraceRequestDecoder()
        .decode(
            message(
                resource(
                    List.of(attribute("service.name", "a")),
                    span(1, Span.SERVER, 0, 1).setKindValue(10))),
            accumulator::accept);
    accumulator.forEach((trace, spans) -> assertThat(spans.get(0).kind()).isZero());
  }

  @Test
  void traceIdsBeyondTheBoundAreGivenOutWithoutTheirTrace() throws Exception {
    var spans = new io.opentelemetry.proto.trace.v1.Span.Builder[6];
    for (int i = 0; i < spans.length; i++) {
      spans[i] = span(i + 1, Span.SERVER, 0, 1).setTraceId(id(1 + i % 4, 16));
    }
    FragmentAccumulator accumulator = new FragmentAccumulator(2);
    new TraceRequestDecoder()
        .decode(
            message(resource(List.of(attribute("service.name", "a")), spans)), accumulator::accept);
    List<Integer> kept = new ArrayList<>();
    List<Integer> rest = new ArrayList<>();
    accumulator.forEach(
        (trace, fragment) ->
            (FragmentAccumulator.isRest(trace) ? rest : kept).add(fragment.size()));
    // Of four traces by turns the first two: spans 1, 5 and 2, 6; 3 and 4 are the rest.
    assertThat(kept).containsExactly(2, 2);
    assertThat(rest).containsExactly(2);
  }

  @Test
  void shortenedSpanIsNotMovable() throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator(2, new Spread(100, 600_000));
    new TraceRequestDecoder()
        .decode(
            message(
                resource(List.of(attribute("service.name", "a")), span(1, Span.CLIENT, 0, 60_000))),
            span -> {
              span.shorten();
              accumulator.accept(span);
            });
    accumulator.forEach((trace, spans) -> assertThat(spans.get(0).movable()).isFalse());
  }

  private static List<Boolean> movable(FragmentAccumulator accumulator, byte[] message)
      throws Exception {
    new TraceRequestDecoder().decode(message, accumulator::accept);
    accumulator.takeNested(span -> {});
    List<Boolean> movable = new ArrayList<>();
    accumulator.forEach((trace, spans) -> spans.forEach(span -> movable.add(span.movable())));
    return movable;
  }

  @Test
  void clientSpansWhosePeerIsNotAServicesNameAreMovable() throws Exception {
    byte[] message =
        message(
            resource(
                List.of(attribute("service.name", "cart")),
                span(1, Span.CLIENT, 0, 1),
                span(2, Span.PRODUCER, 0, 1).addAttributes(attribute("server.address", "db")),
                span(3, Span.CLIENT, 0, 1).addAttributes(attribute("peer.service", "db")),
                span(4, Span.SERVER, 0, 1),
                span(5, Span.INTERNAL, 0, 1)));
    assertThat(movable(new FragmentAccumulator(1_000, new Spread(100, 600_000)), message))
        .containsExactly(true, true, false, false, false);
    assertThat(movable(new FragmentAccumulator(1_000), message)).doesNotContain(true);
  }

  @Test
  void noSpanOfAMessageThatMayBeCutIsMovable() throws Exception {
    // Spans of 6,000 buckets each: 33 of them are 198,000 rows; the last span makes 200,000 or
    // 200,001.
    var spans = new io.opentelemetry.proto.trace.v1.Span.Builder[34];
    for (int i = 0; i < 33; i++) {
      spans[i] = span(i + 1, Span.CLIENT, 0, 599_950);
    }
    spans[33] = span(34, Span.SERVER, 0, 199_950);
    Spread spread = new Spread(100, 600_000);
    List<Boolean> fits =
        movable(
            new FragmentAccumulator(1_000, spread),
            message(resource(List.of(attribute("service.name", "cart")), spans)));
    assertThat(fits).contains(true);
    spans[33] = span(34, Span.SERVER, 0, 200_000);
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000, spread);
    byte[] tooLong = message(resource(List.of(attribute("service.name", "cart")), spans));
    assertThat(movable(accumulator, tooLong)).doesNotContain(true);

    accumulator.clear();
    assertThat(
            movable(
                accumulator,
                message(
                    resource(
                        List.of(attribute("service.name", "cart")), span(1, Span.CLIENT, 0, 1)))))
        .containsExactly(true);
  }
}
