package dev.sluice.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The hand-written decoder against the generated classes, on random requests. */
class DecoderAgreesWithProtobufTest {
  private record DecodedSpan(
      String service,
      String host,
      String operation,
      boolean linked,
      String traceId,
      String spanId,
      int kind,
      long start,
      long end,
      boolean error,
      String peer,
      long rows,
      long bytes) {}

  private final TraceRequestDecoder decoder = new TraceRequestDecoder();

  @Property(tries = 500)
  void readsWhatTheGeneratedClassesRead(@ForAll long seed) throws Exception {
    ExportTraceServiceRequest request = randomRequest(new Random(seed));
    List<DecodedSpan> decoded = new ArrayList<>();
    decoder.decode(
        request.toByteArray(),
        span ->
            decoded.add(
                new DecodedSpan(
                    span.service(),
                    span.host(),
                    span.operation(),
                    span.isLinked(),
                    span.traceIdHex(),
                    span.spanIdHex(),
                    span.kind(),
                    span.startNs(),
                    span.endNs(),
                    span.isError(),
                    span.peer(),
                    span.rows(),
                    span.dataBytes())));
    assertThat(decoded).isEqualTo(expected(request));
  }

  private static List<DecodedSpan> expected(ExportTraceServiceRequest request) {
    List<DecodedSpan> expected = new ArrayList<>();
    for (ResourceSpans resource : request.getResourceSpansList()) {
      String service = first(resource.getResource().getAttributesList(), "service.name");
      String host =
          first(
              resource.getResource().getAttributesList(), "k8s.node.name", "host.id", "host.name");
      for (ScopeSpans scope : resource.getScopeSpansList()) {
        for (Span span : scope.getSpansList()) {
          expected.add(
              new DecodedSpan(
                  service,
                  host,
                  span.getName(),
                  span.getTraceId().size() > 0
                      && span.getLinksList().stream()
                          .anyMatch(link -> link.getTraceId().equals(span.getTraceId())),
                  hex(span.getTraceId()),
                  hex(span.getSpanId()),
                  span.getKindValue(),
                  span.getStartTimeUnixNano(),
                  span.getEndTimeUnixNano(),
                  span.getStatus().getCodeValue() == 2,
                  List.of(3, 4).contains(span.getKindValue()) ? peer(span.getAttributesList()) : "",
                  size(span.getAttributesList(), "db.response.returned_rows"),
                  bytes(span.getAttributesList())));
        }
      }
    }
    return expected;
  }

  private static String peer(List<KeyValue> attributes) {
    String peer = first(attributes, "service.peer.name", "peer.service");
    if (!peer.isEmpty()) {
      return peer;
    }
    String address = first(attributes, "server.address", "net.peer.name");
    String namespace = first(attributes, "db.namespace", "db.name");
    return address.isEmpty() || namespace.isEmpty() ? address : address + "/" + namespace;
  }

  private static long bytes(List<KeyValue> attributes) {
    long request = size(attributes, "http.request.body.size", "messaging.message.body.size");
    long response = size(attributes, "http.response.body.size", "http.response_content_length");
    return Math.max(request, 0) + Math.max(response, 0) - (Math.max(request, response) < 0 ? 1 : 0);
  }

  private static long size(List<KeyValue> attributes, String... names) {
    for (String name : names) {
      for (KeyValue attribute : attributes) {
        long value = attribute.getValue().hasIntValue() ? attribute.getValue().getIntValue() : -1;
        if (attribute.getKey().equals(name) && value >= 0 && value <= 1L << 40) {
          return value;
        }
      }
    }
    return -1;
  }

  private static String first(List<KeyValue> attributes, String... names) {
    for (String name : names) {
      for (KeyValue attribute : attributes) {
        if (attribute.getKey().equals(name) && !attribute.getValue().getStringValue().isEmpty()) {
          return attribute.getValue().getStringValue();
        }
      }
    }
    return "";
  }

  private static String hex(ByteString id) {
    return HexFormat.of().formatHex(id.toByteArray());
  }

  private static ExportTraceServiceRequest randomRequest(Random random) {
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    for (int r = random.nextInt(4); r > 0; r--) {
      ResourceSpans.Builder resource = ResourceSpans.newBuilder();
      if (random.nextInt(5) > 0) {
        resource.setResource(Resource.newBuilder().addAllAttributes(attributes(random)));
      }
      for (int s = random.nextInt(3); s > 0; s--) {
        ScopeSpans.Builder scope = ScopeSpans.newBuilder().setSchemaUrl("https://example.org/1");
        for (int n = random.nextInt(6); n > 0; n--) {
          scope.addSpans(span(random));
        }
        resource.addScopeSpans(scope);
      }
      request.addResourceSpans(resource);
    }
    return request.build();
  }

  private static Span.Builder span(Random random) {
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(bytes(random, 17))
            .setSpanId(bytes(random, 9))
            .setParentSpanId(bytes(random, 9))
            .setTraceState("a=b")
            .setName("operation " + random.nextInt())
            .setKindValue(random.nextInt(7))
            .setStartTimeUnixNano(random.nextLong())
            .setEndTimeUnixNano(random.nextLong())
            .addAllAttributes(attributes(random))
            .setFlags(random.nextInt());
    for (int n = random.nextInt(3); n > 0; n--) {
      span.addEvents(Span.Event.newBuilder().setName("event").addAllAttributes(attributes(random)));
      span.addLinks(
          Span.Link.newBuilder()
              .setTraceId(random.nextInt(4) == 0 ? span.getTraceId() : bytes(random, 17)));
    }
    if (random.nextBoolean()) {
      span.setStatus(Status.newBuilder().setCodeValue(random.nextInt(3)).setMessage("why"));
    }
    return span;
  }

  private static List<KeyValue> attributes(Random random) {
    String[] names = {
      "service.name",
      "k8s.node.name",
      "host.name",
      "service.peer.name",
      "peer.service",
      "server.address",
      "net.peer.name",
      "db.namespace",
      "db.name",
      "http.method",
      "db.response.returned_rows",
      "http.request.body.size",
      "messaging.message.body.size",
      "http.response.body.size",
      "http.response_content_length",
      "a",
      "service.namf",
      "x".repeat(70)
    };
    List<KeyValue> attributes = new ArrayList<>();
    for (int n = random.nextInt(6); n > 0; n--) {
      KeyValue.Builder attribute =
          KeyValue.newBuilder().setKey(names[random.nextInt(names.length)]);
      attributes.add(attribute.setValue(value(random)).build());
    }
    return attributes;
  }

  private static AnyValue value(Random random) {
    AnyValue.Builder value = AnyValue.newBuilder();
    return switch (random.nextInt(7)) {
      case 0 -> value.setIntValue(random.nextLong()).build();
      case 1 -> value.setBoolValue(true).build();
      case 2 ->
          value
              .setArrayValue(
                  ArrayValue.newBuilder().addValues(AnyValue.newBuilder().setStringValue("no")))
              .build();
      case 3 -> value.setStringValue("").build();
      case 4 -> value.setIntValue(random.nextInt(1000)).build();
      default -> value.setStringValue("sérvice-" + random.nextInt(5)).build();
    };
  }

  private static ByteString bytes(Random random, int bound) {
    byte[] bytes = new byte[random.nextInt(bound)];
    random.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }
}
