package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.windows.Spread;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FragmentTest {
  private static final int MANY = 70_000;

  private static List<TraceSpan> throughFragment(byte[] message) throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000);
    new TraceRequestDecoder().decode(message, accumulator::accept);
    List<TraceSpan> spans = new ArrayList<>();
    accumulator.forEach(
        (trace, fragment) -> spans.addAll(Fragment.decode(fragment.encode(MIDNIGHT_MS))));
    return spans;
  }

  @Test
  void spansComeBackAsTheDecoderShowedThem() throws Exception {
    byte[] message =
        message(
            resource(
                List.of(
                    attribute("service.name", "cart"),
                    attribute("service.instance.id", "cart-1"),
                    attribute("host.name", "h1")),
                failed(span(7, Span.CLIENT, 1, 4))
                    .setName("GET /cart")
                    .setParentSpanId(id(5, 8))
                    .addAttributes(attribute("peer.service", "db"))
                    .addLinks(
                        io.opentelemetry.proto.trace.v1.Span.Link.newBuilder()
                            .setTraceId(id(1, 16))
                            .setSpanId(id(5, 8))),
                span(8, Span.SERVER, 2, 3)));
    List<TraceSpan> decoded = new ArrayList<>();
    new TraceRequestDecoder().decode(message, span -> decoded.add(TraceSpan.of(span, MIDNIGHT_MS)));
    assertThat(throughFragment(message)).isEqualTo(decoded);
    assertThat(decoded.get(0))
        .extracting(TraceSpan::operation, TraceSpan::host, TraceSpan::instance, TraceSpan::linked)
        .containsExactly("GET /cart", "h1", "cart-1", true);
  }

  @Test
  void moreNamesThanFitOneFragmentGoOnInAnother() throws Exception {
    var many = new io.opentelemetry.proto.trace.v1.Span.Builder[MANY];
    for (int i = 0; i < MANY; i++) {
      many[i] = span(i + 1, Span.INTERNAL, 0, 1).setName("op" + i);
    }
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000);
    new TraceRequestDecoder()
        .decode(
            message(
                resource(List.of(attribute("service.name", "a")), many),
                resource(List.of(attribute("service.name", "b")), span(-1, Span.SERVER, 0, 1))),
            accumulator::accept);
    List<TraceSpan> spans = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    accumulator.forEach(
        (trace, fragment) -> {
          sizes.add(fragment.size());
          spans.addAll(Fragment.decode(fragment.encode(MIDNIGHT_MS)));
        });
    // "", "a" and 65,530 operations: the next span might bring five names.
    assertThat(sizes).containsExactly(65_530, MANY + 1 - 65_530);
    assertThat(spans.get(0).operation()).isEqualTo("op0");
    assertThat(spans.get(MANY - 1))
        .extracting(TraceSpan::operation, TraceSpan::service)
        .containsExactly("op" + (MANY - 1), "a");
    assertThat(spans.get(MANY).service()).isEqualTo("b");
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
    accumulator.forEach(
        (trace, fragment) ->
            assertThat(Fragment.decode(fragment.encode(MIDNIGHT_MS)).get(0).movable()).isFalse());
  }

  private static List<Boolean> movable(FragmentAccumulator accumulator, byte[] message)
      throws Exception {
    new TraceRequestDecoder().decode(message, accumulator::accept);
    List<Boolean> movable = new ArrayList<>();
    accumulator.forEach(
        (trace, fragment) ->
            Fragment.decode(fragment.encode(MIDNIGHT_MS)).forEach(s -> movable.add(s.movable())));
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

  @Test
  void anUnknownFormatIsRefused() {
    byte[] encoded = new Fragment().encode(MIDNIGHT_MS);
    encoded[0]++;
    assertThatThrownBy(() -> Fragment.decode(encoded))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("read fragment: format 5, expected 4");
  }
}
