package dev.sluice.sampling;

import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.sluice.otlp.Requests;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SamplingAccumulatorTest {
  private static ByteString id(long head, long tail) {
    return ByteString.copyFrom(ByteBuffer.allocate(16).putLong(head).putLong(tail).array());
  }

  private static io.opentelemetry.proto.trace.v1.Span.Builder of(long head, long tail) {
    return span(1, Span.SERVER, 0, 1).setTraceId(id(head, tail));
  }

  private static Map<String, Sampling> sums(ResourceSpans... resources) throws Exception {
    SamplingAccumulator accumulator = new SamplingAccumulator(10_000);
    accumulator.at(Requests.MIDNIGHT_MS + 12_345);
    new TraceRequestDecoder().decode(message(resources), accumulator::accept);
    Map<String, Sampling> sums = new TreeMap<>();
    accumulator.forEach(
        (service, sampling) -> {
          assertThat(sampling.windowMs()).isEqualTo(Requests.MIDNIGHT_MS + 10_000);
          sums.put(service, sampling);
        });
    return sums;
  }

  @Test
  void countsAreOfAServiceAndAWindowOfTheRecord() throws Exception {
    Map<String, Sampling> sums =
        sums(
            service("cart", of(1, 0x1FF), of(1, 0x2FF).setTraceState("ot=th:8")),
            service("pay", of(1, 0x100)));
    Sampling cart = sums.get("cart");
    assertThat(cart.spans()).isEqualTo(2);
    assertThat(cart.stated()).isEqualTo(1);
    assertThat(cart.adjusted()).isEqualTo(3 * 1_024);
    assertThat(cart.lastBytes().toMap()).isEqualTo(Map.of((short) 0xFF, 2));
    assertThat(sums.get("pay").spans()).isEqualTo(1);
  }

  @Test
  void eachSamplersNumberOfAnIdIsCompared() throws Exception {
    // By hand: the words are 80000000, 00000001, C0000000 and 00000002: together 40000003.
    Sampling one =
        sums(service("cart", of(0x8000_0000_0000_0001L, 0xC000_0000_0000_0002L))).get("cart");
    assertThat(one.bounds())
        .containsExactly(
            0x6000_0000_0000_0001L,
            0x4000_0000_0000_0002L,
            (1L << 56) - 3 << 7,
            0x4000_0003L << 31,
            0x7FFF_FFFF_FFFF_FFFFL,
            0x6000_0000_0000_0001L,
            0x7FFF_FFFF_FFFF_FFFFL);
  }

  @Test
  void theLargestAndTheLeastNumbersCount() throws Exception {
    Sampling two = sums(service("cart", of(5, 100), of(-7, 40))).get("cart");
    assertThat(two.bounds()[0]).isEqualTo(50);
    assertThat(two.bounds()[1]).isEqualTo(100);
    assertThat(two.bounds()[4]).isEqualTo(7);
    assertThat(two.bounds()[5]).isEqualTo(20);
    assertThat(two.bounds()[6]).isEqualTo(5);
    Sampling other = sums(service("cart", of(Long.MIN_VALUE, 500))).get("cart");
    two.merge(other);
    assertThat(two.spans()).isEqualTo(3);
    assertThat(two.bounds()[1]).isEqualTo(500);
    assertThat(two.bounds()[4]).isEqualTo(Long.MAX_VALUE);
    assertThat(two.bounds()[5]).isEqualTo(20);
  }
}
