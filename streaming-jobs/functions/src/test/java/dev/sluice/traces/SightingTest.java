package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SightingTest {
  private static final long RECEIVED_MS = MIDNIGHT_MS + 60_000;

  private static Set<Sighting> in(Trace trace) {
    Sightings sightings = new Sightings(10_000);
    sightings.add(trace);
    return sightings.all();
  }

  private static io.opentelemetry.proto.trace.v1.Span.Builder below(
      long parent, long id, int kind, double startMs, double endMs) {
    return span(id, kind, startMs, endMs).setName("op" + id).setParentSpanId(id(parent, 8));
  }

  @Test
  void eachInstanceAndOperationIsSeenOnceInWindow() throws Exception {
    byte[] message =
        message(
            resource(
                List.of(
                    attribute("service.name", "cart"),
                    attribute("service.instance.id", "cart-1"),
                    attribute("host.name", "h1")),
                span(1, Span.INTERNAL, 0, 5).setName("cron"),
                below(1, 2, Span.CLIENT, 0, 1),
                below(1, 3, Span.INTERNAL, 1, 2),
                below(1, 4, Span.SERVER, 2, 10_000),
                below(1, 5, Span.CONSUMER, 2, 9_999),
                below(1, 6, Span.CONSUMER, 2, 9_999).setName("op5")),
            resource(List.of(attribute("service.name", "db")), below(2, 7, Span.SERVER, 0, 1)));
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(RECEIVED_MS);
    new TraceRequestDecoder().decode(message, accumulator::accept);
    List<TraceSpan> spans = new ArrayList<>();
    accumulator.forEach((id, fragment) -> spans.addAll(fragment));

    assertThat(in(Trace.assemble(spans, 100)))
        .containsExactlyInAnyOrder(
            new Sighting("cart", "cart-1", "h1", "cron", MIDNIGHT_MS),
            new Sighting("cart", "cart-1", "h1", "", MIDNIGHT_MS),
            new Sighting("cart", "cart-1", "h1", "op4", MIDNIGHT_MS + 10_000),
            new Sighting("cart", "cart-1", "h1", "op5", MIDNIGHT_MS),
            new Sighting("db", "", "", "op7", MIDNIGHT_MS));
  }

  @Test
  void aSpanThatEndsAfterItsRecordTimeCountsAtItsRecordTime() throws Exception {
    byte[] message =
        message(
            resource(
                List.of(attribute("service.name", "ahead")), span(1, Span.SERVER, 0, 540_000)));
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(RECEIVED_MS);
    new TraceRequestDecoder().decode(message, accumulator::accept);
    List<TraceSpan> spans = new ArrayList<>();
    accumulator.forEach((id, fragment) -> spans.addAll(fragment));
    assertThat(in(Trace.assemble(spans, 100)))
        .containsExactly(new Sighting("ahead", "", "", "work", MIDNIGHT_MS + 60_000));
  }

  /** More than are recent, so that some take the places of others; every second one is a repeat. */
  @Test
  void aSightingThatIsNotRecentAnyMoreIsStillSeenOnce() {
    Sightings sightings = new Sightings(10_000);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < 1_000; i++) {
        sightings.add(Trace.assemble(List.of(request("cart-" + i)), 1));
      }
    }
    assertThat(sightings.all()).hasSize(1_000);
    sightings.clear();
    assertThat(sightings.all()).isEmpty();
    sightings.add(Trace.assemble(List.of(request("cart-1")), 1));
    assertThat(sightings.all())
        .containsExactly(new Sighting("cart", "cart-1", "h1", "op", MIDNIGHT_MS));
  }

  private static TraceSpan request(String instance) {
    long startNs = MIDNIGHT_MS * 1_000_000;
    return new TraceSpan(
        1,
        0,
        Span.SERVER,
        false,
        false,
        startNs,
        1,
        "cart",
        "",
        "",
        "op",
        "h1",
        instance,
        RECEIVED_MS,
        Place.NONE);
  }
}
