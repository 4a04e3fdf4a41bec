package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
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
                List.of(attribute("service.name", "cart"), attribute("host.name", "h1")),
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
        .extracting(TraceSpan::operation, TraceSpan::host, TraceSpan::linked)
        .containsExactly("GET /cart", "h1", true);
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
  void stateOfTheFirstFormatIsStillRead() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeByte(1);
    out.writeLong(MIDNIGHT_MS);
    out.writeShort(2 - 1);
    out.writeUTF("cart");
    out.writeUTF("db");
    out.writeLong(7);
    out.writeLong(5);
    out.writeByte(Span.CLIENT | 0x80);
    out.writeLong(1_000);
    out.writeLong(50);
    out.writeShort(0);
    out.writeShort(1);
    assertThat(Fragment.decode(bytes.toByteArray()))
        .containsExactly(
            new TraceSpan(
                7, 5, Span.CLIENT, true, false, 1_000, 50, "cart", "db", "", "", MIDNIGHT_MS));
  }
}
