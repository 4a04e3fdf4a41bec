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

class FragmentTest {
  private static final int MANY = 70_000;

  private static List<TraceSpan> throughFragment(byte[] message) throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator();
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
  void moreOperationsThanNamesFitLeaveTheServicesRight() throws Exception {
    var many = new io.opentelemetry.proto.trace.v1.Span.Builder[MANY];
    for (int i = 0; i < MANY; i++) {
      many[i] = span(i + 1, Span.INTERNAL, 0, 1).setName("op" + i);
    }
    List<TraceSpan> spans =
        throughFragment(
            message(
                resource(List.of(attribute("service.name", "a")), many),
                resource(List.of(attribute("service.name", "b")), span(-1, Span.SERVER, 0, 1))));
    assertThat(spans).hasSize(MANY + 1);
    assertThat(spans.get(0).operation()).isEqualTo("op0");
    assertThat(spans.get(MANY - 1))
        .extracting(TraceSpan::operation, TraceSpan::service)
        .containsExactly("", "a");
    assertThat(spans.get(MANY).service()).isEqualTo("b");
  }

  @Test
  void anUnknownFormatIsRefused() {
    byte[] encoded = new Fragment().encode(MIDNIGHT_MS);
    encoded[0]++;
    assertThatThrownBy(() -> Fragment.decode(encoded))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("read fragment: format 4, expected 3");
  }
}
