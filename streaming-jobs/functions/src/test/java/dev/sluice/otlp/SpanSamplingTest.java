package dev.sluice.otlp;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What spans say of samplers before them. */
class SpanSamplingTest {
  /** "adjusted count in 1/1,024, sampled, tail" of each span. */
  private static List<String> read(byte[] message) throws MalformedMessageException {
    List<String> texts = new ArrayList<>();
    new TraceRequestDecoder()
        .decode(
            message,
            span ->
                texts.add(span.adjusted() + " " + span.isSampled() + " " + span.isTailSampled()));
    return texts;
  }

  private static List<String> with(KeyValue... attributes) throws MalformedMessageException {
    var span = span(1, Span.SERVER, 0, 1).addAllAttributes(List.of(attributes));
    return read(message(service("cart", span, span(2, Span.SERVER, 0, 1))));
  }

  private static KeyValue decimal(String key, double value) {
    return KeyValue.newBuilder()
        .setKey(key)
        .setValue(AnyValue.newBuilder().setDoubleValue(value))
        .build();
  }

  @ParameterizedTest
  @CsvSource({
    "ot=th:8, 2048 true",
    "ot=th:0, 1024 false",
    "'a=b, ot=rv:6e6d1a75832a2f;th:c', 4096 true",
    "ot=th:e6666666666668, 10240 true",
    "ot=th:ffffffffffffff, 1099511627776 true",
    "ot=th:, 1024 false",
    "ot=th:8x, 1024 false",
    "ot=th:123456789012345, 1024 false",
    "vendor=th:8, 1024 false",
    "'', 1024 false",
  })
  void aThresholdInTheTracestateGivesAnAdjustedCount(String state, String expected)
      throws Exception {
    byte[] message =
        message(
            service(
                "cart",
                span(1, Span.SERVER, 0, 1).setTraceState(state),
                span(2, Span.SERVER, 0, 1)));
    assertThat(read(message)).containsExactly(expected + " false", "1024 false false");
  }

  @Test
  void attributesGiveItToo() throws Exception {
    String none = "1024 false false";
    assertThat(with(attribute("sampler.type", "probabilistic"), decimal("sampler.param", 0.1)))
        .containsExactly("10240 true false", none);
    assertThat(with(attribute("sampler.type", "const"), attribute("sampler.param", "true")))
        .containsExactly(none, none);
    assertThat(with(attribute("sampler.type", "ratelimiting"), decimal("sampler.param", 2)))
        .containsExactly("1024 true false", none);
    assertThat(with(intAttribute("SampleRate", 20))).containsExactly("20480 true false", none);
    assertThat(with(intAttribute("SampleRate", 0))).containsExactly(none, none);
    assertThat(with(attribute("sampling.probability", "0.5")))
        .containsExactly("2048 true false", none);
    assertThat(with(attribute("sampling.probability", "often"))).containsExactly(none, none);
  }

  @Test
  void aTailSamplerNamesItsPolicyOnTheScopeOrTheSpan() throws Exception {
    assertThat(with(attribute("sampling.rule", "filtered")))
        .containsExactly("1024 false true", "1024 false false");
    ResourceSpans spans =
        ResourceSpans.newBuilder()
            .addScopeSpans(
                ScopeSpans.newBuilder()
                    .setScope(
                        InstrumentationScope.newBuilder()
                            .setName("http")
                            .addAttributes(attribute("tailsampling.policy", "slow")))
                    .addSpans(span(1, Span.SERVER, 0, 1)))
            .addScopeSpans(ScopeSpans.newBuilder().addSpans(span(2, Span.SERVER, 0, 1)))
            .build();
    byte[] message =
        ExportTraceServiceRequest.newBuilder().addResourceSpans(spans).build().toByteArray();
    assertThat(read(message)).containsExactly("1024 false true", "1024 false false");
  }
}
