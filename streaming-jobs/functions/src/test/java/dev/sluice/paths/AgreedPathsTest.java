package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.otlp.Span;
import dev.sluice.traces.TraceSpan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The traces on whose paths two published implementations agree. They lie beside the repository, or
 * where {@code SLUICE_CONFORMANCE} says.
 */
class AgreedPathsTest {
  private static final int NS_PER_US = 1_000;

  private static Path file() {
    String elsewhere = System.getenv("SLUICE_CONFORMANCE");
    // Maven runs tests in streaming-jobs/functions.
    Path conformance =
        elsewhere == null ? Path.of("../../../shared/conformance") : Path.of(elsewhere);
    return conformance.resolve("critical-path/agreed.json");
  }

  @TestFactory
  List<DynamicTest> agreed() throws Exception {
    Path file = file();
    assumeTrue(
        Files.exists(file),
        () -> "no " + file.toAbsolutePath().normalize() + ": set SLUICE_CONFORMANCE to its folder");
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode fixture : new ObjectMapper().readTree(file.toFile()).get("fixtures")) {
      tests.add(DynamicTest.dynamicTest(fixture.get("id").asText(), () -> check(fixture)));
    }
    assertThat(tests).isNotEmpty();
    return tests;
  }

  private static void check(JsonNode fixture) {
    Map<String, Long> ids = new HashMap<>();
    StreamSupport.stream(fixture.get("spans").spliterator(), false)
        .map(span -> span.get("span_id").asText())
        .sorted()
        .forEach(id -> ids.put(id, ids.size() + 1L));
    List<TraceSpan> spans = new ArrayList<>();
    for (JsonNode span : fixture.get("spans")) {
      long start = span.get("start_us").asLong() * NS_PER_US;
      spans.add(
          Spans.span(
              ids.get(span.get("span_id").asText()),
              ids.getOrDefault(span.get("parent_span_id").asText(), 0L),
              kind(span.get("kind").asText()),
              false,
              start,
              start + span.get("duration_us").asLong() * NS_PER_US,
              span.get("service").asText(),
              ""));
    }
    CriticalPath path = CriticalPaths.of(spans).paths().get(0);
    assertThat(Spans.id(path.root())).isEqualTo(ids.get(fixture.get("root_span_id").asText()));
    List<long[]> actual = new ArrayList<>();
    for (Section section : path.sections()) {
      actual.add(
          new long[] {
            Spans.id(section.span()), section.startNs() / NS_PER_US, section.endNs() / NS_PER_US
          });
    }
    List<long[]> expected = new ArrayList<>();
    for (JsonNode section : fixture.get("expected").get("sections")) {
      expected.add(
          new long[] {
            ids.get(section.get("span_id").asText()),
            section.get("start_us").asLong(),
            section.get("end_us").asLong()
          });
    }
    assertThat(normal(actual)).containsExactly(normal(expected).toArray(long[][]::new));
  }

  /** In order of time, adjacent windows of one span merged, empty ones dropped. */
  private static List<long[]> normal(List<long[]> windows) {
    List<long[]> merged = new ArrayList<>();
    windows.sort(Comparator.comparingLong(window -> window[1]));
    for (long[] window : windows) {
      long[] last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && last[0] == window[0] && last[2] == window[1]) {
        last[2] = window[2];
      } else if (window[1] < window[2]) {
        merged.add(window);
      }
    }
    return merged;
  }

  private static int kind(String name) {
    return switch (name.toUpperCase(Locale.ROOT)) {
      case "SERVER" -> Span.SERVER;
      case "CLIENT" -> Span.CLIENT;
      case "PRODUCER" -> Span.PRODUCER;
      case "CONSUMER" -> Span.CONSUMER;
      default -> Span.INTERNAL;
    };
  }
}
