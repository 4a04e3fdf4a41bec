package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Requests;
import dev.sluice.otlp.Span;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class SectionLinesTest {
  private static String lines(CriticalPath path) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SectionLines lines = new SectionLines(out);
    lines.write("00", path);
    lines.flush();
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void timesAreExactMicroseconds() throws Exception {
    // 1 us, 1.5 us and 2.005 us
    assertThat(lines(Spans.trace().add(1, 0, 1_000, 2_005).add(0xab, 1, 1_500, 3_000).path()))
        .isEqualTo(
            """
            {"trace_id":"00","span_id":"0000000000000001","service":"s","operation":"op1",\
            "start_us":1,"end_us":1.5,"root_span_id":"0000000000000001","incomplete":false}
            {"trace_id":"00","span_id":"00000000000000ab","service":"s","operation":"op171",\
            "start_us":1.5,"end_us":2.005,"root_span_id":"0000000000000001","incomplete":false}
            """);
  }

  @Test
  void namesAreEscaped() throws Exception {
    assertThat(lines(Spans.trace().of("a\"b\\c\n\u0001é").add(1, 9, 0, 1_000).path()))
        .contains("\"service\":\"a\\\"b\\\\c\\u000a\\u0001é\"")
        .contains("\"incomplete\":true");
  }

  @Test
  void pairOfASharedIdIsTwoSpansAndBothAreShownByIt() throws Exception {
    var root = Requests.span(1, Span.SERVER, 0, 100);
    var client = Requests.span(2, Span.CLIENT, 10, 90).setParentSpanId(Requests.id(1, 8));
    var server = Requests.span(2, Span.SERVER, 15, 85).setParentSpanId(Requests.id(1, 8));
    var query = Requests.span(3, Span.CLIENT, 20, 80).setParentSpanId(Requests.id(2, 8));
    var traces =
        new TraceReader()
            .read(
                Requests.message(
                    Requests.service("front", root, client),
                    Requests.service("cart", server, query)));
    CriticalPaths result = CriticalPaths.of(traces.values().iterator().next());
    assertThat(result.excluded(Exclusion.DUPLICATE_SPAN)).isZero();
    assertThat(
            lines(result.paths().get(0))
                .lines()
                .map(line -> line.split("\"")[7] + line.split("\"")[11]))
        .containsExactly(
            "0000000000000001front",
            "0000000000000002front",
            "0000000000000002cart",
            "0000000000000003cart",
            "0000000000000002cart",
            "0000000000000002front",
            "0000000000000001front");
  }

  @Test
  void readerPartsTracesAndLeavesOutWhatHasNoPlace() throws Exception {
    var other = Requests.span(2, Span.SERVER, 0, 1).setTraceId(Requests.id(2, 16));
    var badId = Requests.span(3, Span.SERVER, 0, 1).setSpanId(Requests.id(3, 9));
    var future = Requests.span(4, Span.SERVER, 0, 1).setEndTimeUnixNano(-1);
    var zero = Requests.span(5, Span.SERVER, 0, 1).setStartTimeUnixNano(0);
    TraceReader reader = new TraceReader();
    var traces =
        reader.read(Requests.message(Requests.service("shop", other, badId, future, zero)));
    assertThat(traces.keySet())
        .isEqualTo(
            new java.util.LinkedHashSet<>(List.of("0".repeat(31) + "2", "0".repeat(31) + "1")));
    assertThat(reader.unusable()).isEqualTo(2);
  }
}
