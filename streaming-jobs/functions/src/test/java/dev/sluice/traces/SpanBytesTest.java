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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpanBytesTest {
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
    List<TraceSpan> spans = new ArrayList<>();
    new TraceRequestDecoder()
        .decode(
            message,
            span ->
                spans.add(
                    TraceSpan.of(
                        span,
                        MIDNIGHT_MS + spans.size(),
                        spans.isEmpty() ? Place.MOVABLE : Place.NONE)));
    assertThat(SpanBytes.decode(SpanBytes.encode(spans))).isEqualTo(spans);
    assertThat(spans.get(0))
        .extracting(TraceSpan::operation, TraceSpan::host, TraceSpan::instance, TraceSpan::linked)
        .containsExactly("GET /cart", "h1", "cart-1", true);
    assertThat(spans).extracting(TraceSpan::movable).containsExactly(true, false);
  }

  @Test
  void namesAreSharedByAllThatIsRead() {
    List<TraceSpan> spans =
        List.of(
            new TraceSpan(1, 0, 2, false, false, 0, 1, "a", "", "", "op", "", "", 0, Place.NONE));
    TraceSpan decoded = SpanBytes.decode(SpanBytes.encode(spans)).get(0);
    TraceSpan other = SpanBytes.decode(SpanBytes.encode(spans)).get(0);
    assertThat(decoded.operation()).isSameAs(other.operation());
  }

  @Test
  void noSpansAreNone() {
    assertThat(SpanBytes.decode(SpanBytes.encode(List.of()))).isEmpty();
  }

  @Test
  void anUnknownFormatIsRefused() {
    byte[] encoded = SpanBytes.encode(List.of());
    encoded[0]++;
    assertThatThrownBy(() -> SpanBytes.decode(encoded))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("read traces: format 3, expected 2");
  }
}
