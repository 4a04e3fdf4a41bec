package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Requests;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ContainerCallsTest {
  private static final long WINDOW_MS = 10_000;

  private static io.opentelemetry.proto.trace.v1.Span.Builder span(
      long id, long parent, int kind, double startMs, double endMs) {
    var span = Requests.span(id, kind, startMs, endMs);
    return parent == 0 ? span : span.setParentSpanId(id(parent, 8));
  }

  private static ResourceSpans container(
      String service, String instance, io.opentelemetry.proto.trace.v1.Span.Builder... spans) {
    return resource(
        List.of(attribute("service.name", service), attribute("service.instance.id", instance)),
        spans);
  }

  /** "caller/instance>callee/instance@window": calls. */
  private static Map<String, Long> calls(ResourceSpans... resources) throws Exception {
    List<TraceSpan> spans = new ArrayList<>();
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(MIDNIGHT_MS + 60_000);
    new TraceRequestDecoder().decode(message(resources), accumulator::accept);
    accumulator.forEach((id, fragment) -> spans.addAll(fragment));
    Map<ContainerCalls.Key, Long> calls = new HashMap<>();
    ContainerCalls.add(Trace.assemble(spans, 100), WINDOW_MS, calls);
    Map<String, Long> named = new HashMap<>();
    calls.forEach(
        (key, count) ->
            named.put(
                key.caller()
                    + "/"
                    + key.callerInstance()
                    + ">"
                    + key.callee()
                    + "/"
                    + key.calleeInstance()
                    + "@"
                    + (key.windowMs() - MIDNIGHT_MS),
                count));
    return named;
  }

  @Test
  void callsAreCountedByBothContainersInTheWindowOfTheirEnd() throws Exception {
    assertThat(
            calls(
                container(
                    "front",
                    "f-1",
                    span(1, 0, Span.SERVER, 0, 10_500),
                    span(2, 1, Span.CLIENT, 5, 20),
                    span(3, 1, Span.CLIENT, 25, 40),
                    span(4, 1, Span.CLIENT, 9_990, 10_010)),
                container(
                    "cart", "c-0", span(5, 2, Span.SERVER, 6, 19), span(6, 3, Span.SERVER, 26, 39)),
                container("cart", "c-1", span(7, 4, Span.SERVER, 9_995, 10_005))))
        .isEqualTo(Map.of("front/f-1>cart/c-0@0", 2L, "front/f-1>cart/c-1@10000", 1L));
  }

  @Test
  void messagesAndSpansOfOneServiceAreNoCalls() throws Exception {
    assertThat(
            calls(
                container(
                    "front",
                    "f-1",
                    span(1, 0, Span.PRODUCER, 0, 5),
                    span(2, 1, Span.INTERNAL, 1, 2)),
                container("cart", "c-0", span(3, 1, Span.CONSUMER, 6, 19))))
        .isEmpty();
  }

  @Test
  void callsOfUnknownContainersAreLeftOut() throws Exception {
    assertThat(
            calls(
                resource(
                    List.of(attribute("service.name", "front")), span(1, 0, Span.CLIENT, 0, 5)),
                container("cart", "c-0", span(2, 1, Span.SERVER, 1, 4))))
        .isEmpty();
  }
}
