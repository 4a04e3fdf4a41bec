package dev.sluice.otlp;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;
import java.util.List;

/** Requests for tests, built with the generated classes. */
public final class Requests {
  public static final long MS = 1_000_000;

  /** A moment for tests: 2026-01-01 00:00:00 UTC, in ms. */
  public static final long MIDNIGHT_MS = 1_767_225_600_000L;

  private Requests() {}

  public static KeyValue attribute(String key, String value) {
    return KeyValue.newBuilder()
        .setKey(key)
        .setValue(AnyValue.newBuilder().setStringValue(value))
        .build();
  }

  public static KeyValue intAttribute(String key, long value) {
    return KeyValue.newBuilder()
        .setKey(key)
        .setValue(AnyValue.newBuilder().setIntValue(value))
        .build();
  }

  /** A valid span of trace 1; times in ms after {@link #MIDNIGHT_MS}. */
  public static Span.Builder span(long id, int kind, double startMs, double endMs) {
    return Span.newBuilder()
        .setTraceId(id(1, 16))
        .setSpanId(id(id, 8))
        .setName("work")
        .setKindValue(kind)
        .setStartTimeUnixNano(MIDNIGHT_MS * MS + (long) (startMs * MS))
        .setEndTimeUnixNano(MIDNIGHT_MS * MS + (long) (endMs * MS));
  }

  public static Span.Builder failed(Span.Builder span) {
    return span.setStatus(Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR));
  }

  /** A number as an id, big endian, in the last bytes. */
  public static ByteString id(long number, int length) {
    byte[] bytes = new byte[length];
    ByteBuffer.wrap(bytes, length - 8, 8).putLong(number);
    return ByteString.copyFrom(bytes);
  }

  public static ResourceSpans resource(List<KeyValue> attributes, Span.Builder... spans) {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    for (Span.Builder span : spans) {
      scope.addSpans(span);
    }
    return ResourceSpans.newBuilder()
        .setResource(Resource.newBuilder().addAllAttributes(attributes))
        .addScopeSpans(scope)
        .build();
  }

  /** Spans of one service on instance "i-0". */
  public static ResourceSpans service(String name, Span.Builder... spans) {
    return resource(
        List.of(attribute("service.name", name), attribute("service.instance.id", "i-0")), spans);
  }

  public static byte[] message(ResourceSpans... resources) {
    ExportTraceServiceRequest.Builder request = ExportTraceServiceRequest.newBuilder();
    for (ResourceSpans resource : resources) {
      request.addResourceSpans(resource);
    }
    return request.build().toByteArray();
  }
}
