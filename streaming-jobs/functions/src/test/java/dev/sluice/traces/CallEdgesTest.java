package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
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

class CallEdgesTest {
  private static final long WINDOW_MS = 10_000;
  private static final int MANY = 100;
  private static final long RECEIVED_MS = MIDNIGHT_MS + 60_000;

  private static io.opentelemetry.proto.trace.v1.Span.Builder span(
      long id, long parent, int kind, double startMs, double endMs) {
    var span = Requests.span(id, kind, startMs, endMs);
    return parent == 0 ? span : span.setParentSpanId(id(parent, 8));
  }

  /** The only trace of these messages, one fragment a message. */
  private static Trace trace(int maxSpans, byte[]... messages) throws Exception {
    List<TraceSpan> spans = new ArrayList<>();
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(RECEIVED_MS);
    for (byte[] message : messages) {
      accumulator.clear();
      new TraceRequestDecoder().decode(message, accumulator::accept);
      accumulator.forEach((id, fragment) -> spans.addAll(fragment));
    }
    return Trace.assemble(spans, maxSpans);
  }

  /** "caller>callee@window": calls/errors. */
  private static Map<String, String> edges(ResourceSpans... resources) throws Exception {
    return edges(trace(MANY, message(resources)));
  }

  private static Map<String, String> edges(Trace trace) {
    Map<String, String> edges = new HashMap<>();
    CallEdges.of(trace, WINDOW_MS)
        .forEach(
            (key, calls) ->
                edges.put(
                    key.caller() + ">" + key.callee() + "@" + (key.windowMs() - MIDNIGHT_MS),
                    calls.calls() + "/" + calls.errors()));
    return edges;
  }

  @Test
  void serverSpanUnderAnotherServicesClientSpanIsOneCall() throws Exception {
    assertThat(
            edges(
                service("front", span(1, 0, Span.SERVER, 0, 30), span(2, 1, Span.CLIENT, 5, 20)),
                service("cart", span(3, 2, Span.SERVER, 6, 19))))
        .isEqualTo(Map.of("front>cart@0", "1/0"));
  }

  @Test
  void clientSpanWithPeerAndServerChildIsNotCountedTwice() throws Exception {
    assertThat(
            edges(
                service(
                    "front",
                    span(2, 0, Span.CLIENT, 5, 20)
                        .addAttributes(attribute("peer.service", "cart"))),
                service("cart", span(3, 2, Span.SERVER, 6, 19))))
        .isEqualTo(Map.of("front>cart@0", "1/0"));
  }

  @Test
  void databaseIsKnownByThePeerOfItsClientSpan() throws Exception {
    assertThat(
            edges(
                service(
                    "cart",
                    span(1, 0, Span.SERVER, 0, 30),
                    failed(span(2, 1, Span.CLIENT, 5, 20))
                        .addAttributes(attribute("server.address", "db"))
                        .addAttributes(attribute("db.namespace", "carts")),
                    span(3, 2, Span.INTERNAL, 6, 7),
                    span(4, 1, Span.CLIENT, 8, 9))))
        .isEqualTo(Map.of("cart>db/carts@0", "1/1"));
  }

  @Test
  void callIsMeasuredByTheCalleeInTheWindowOfItsEnd() throws Exception {
    Trace trace =
        trace(
            MANY,
            message(
                service("front", span(2, 0, Span.CLIENT, 9_990, 10_200)),
                service(
                    "cart",
                    failed(span(3, 2, Span.SERVER, 9_999, 10_000)),
                    span(4, 2, Span.SERVER, 9_990, 9_999.5))));
    assertThat(edges(trace)).isEqualTo(Map.of("front>cart@10000", "1/1", "front>cart@0", "1/0"));
    // 1 ms -> index 1275
    assertThat(
            CallEdges.of(trace, WINDOW_MS)
                .get(new CallEdges.Key("front", "cart", MIDNIGHT_MS + WINDOW_MS))
                .latency()
                .toMap())
        .isEqualTo(Map.of((short) 1275, 1));
  }

  @Test
  void fragmentsJoinInAnyOrder() throws Exception {
    byte[] parent = message(service("front", span(2, 0, Span.CLIENT, 5, 20)));
    byte[] child = message(service("cart", span(3, 2, Span.SERVER, 6, 19)));
    assertThat(edges(trace(MANY, parent, child))).isEqualTo(Map.of("front>cart@0", "1/0"));
    assertThat(edges(trace(MANY, child, parent))).isEqualTo(Map.of("front>cart@0", "1/0"));
  }

  @Test
  void repeatedMessageCountsOnceAndItsSpansAreDuplicates() throws Exception {
    byte[] message =
        message(
            service("front", span(2, 0, Span.CLIENT, 5, 20)),
            service("cart", span(3, 2, Span.SERVER, 6, 19)));
    Trace trace = trace(MANY, message, message);
    assertThat(edges(trace)).isEqualTo(Map.of("front>cart@0", "1/0"));
    assertThat(trace.duplicates()).extracting(TraceSpan::service).containsExactly("front", "cart");
  }

  @Test
  void spansBeyondTheBoundAreExcess() throws Exception {
    Trace trace =
        trace(
            2,
            message(
                service(
                    "front",
                    span(1, 0, Span.SERVER, 0, 1),
                    span(2, 1, Span.CLIENT, 0, 1),
                    span(3, 1, Span.CLIENT, 0, 1))));
    assertThat(trace.spans()).hasSize(2);
    assertThat(trace.excess()).extracting(TraceSpan::spanId).hasSize(1);
  }

  @Test
  void cyclesSelfParentsAndOrphansAreNoCallsAndNoTrouble() throws Exception {
    assertThat(
            edges(
                service("a", span(1, 2, Span.SERVER, 0, 1), span(3, 3, Span.SERVER, 0, 1)),
                service("b", span(2, 1, Span.SERVER, 0, 1), span(4, 99, Span.SERVER, 0, 1))))
        .isEqualTo(Map.of("a>b@0", "1/0", "b>a@0", "1/0"));
  }

  @Test
  void fragmentKeepsWhatItIsGiven() throws Exception {
    Trace trace =
        trace(
            MANY,
            message(
                service(
                    "cart",
                    failed(span(7, 5, Span.CLIENT, 1, 4))
                        .addAttributes(attribute("peer.service", "prix-é")))));
    long start = (MIDNIGHT_MS + 1) * MS;
    assertThat(trace.spans())
        .containsExactly(
            new TraceSpan(
                Long.reverseBytes(7),
                Long.reverseBytes(5),
                Span.CLIENT,
                true,
                false,
                start,
                3 * MS,
                "cart",
                "prix-é",
                "",
                "work",
                "",
                "i-0",
                RECEIVED_MS,
                Place.NONE));
  }

  @Test
  void callOfAClockThatIsAheadCountsWhenItWasReceived() throws Exception {
    assertThat(
            edges(
                service("front", span(1, 0, Span.SERVER, 0, 540_000)),
                service("cart", span(2, 1, Span.SERVER, 0, 540_000))))
        .isEqualTo(Map.of("front>cart@60000", "1/0"));
  }
}
