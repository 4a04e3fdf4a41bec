package dev.sluice.paths;

import static dev.sluice.otlp.Span.CONSUMER;
import static dev.sluice.otlp.Span.PRODUCER;
import static dev.sluice.paths.Spans.trace;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.traces.Cause;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class TraceAccountTest {
  private static Map<String, Integer> causes(TraceAccount account) {
    Map<String, Integer> causes = new TreeMap<>();
    account.forEach(causes::put);
    return causes;
  }

  private static TraceAccount account(Spans spans) {
    return new TraceAccount(Cause.QUIET, false, spans.list(), spans.paths());
  }

  @Test
  void wholeTraceIsOnlyClosed() {
    Spans spans = trace().of("front").add(1, 0, 0, 10).of("cart").add(2, 1, 2, 8);
    assertThat(causes(account(spans))).isEqualTo(Map.of("closed_quiet", 2));
    assertThat(account(spans).service()).isEqualTo("front");
    assertThat(causes(new TraceAccount(Cause.MAX_AGE, true, spans.list(), spans.paths())))
        .isEqualTo(Map.of("closed_max_age", 2, "late", 2));
  }

  @Test
  void orphanMakesATraceIncompleteAndNamesItOnlyWhereThereIsNoRoot() {
    Spans orphan = trace().of("cart").add(2, 99, 0, 10);
    assertThat(causes(account(orphan))).isEqualTo(Map.of("closed_quiet", 1, "incomplete", 1));
    assertThat(account(orphan).service()).isEqualTo("cart");
    assertThat(account(orphan.of("front").add(1, 0, 5, 20)).service()).isEqualTo("front");
  }

  @Test
  void ringHasNoPath() {
    Spans ring = trace().add(1, 2, 0, 10).add(2, 1, 0, 10).add(3, 3, 0, 10);
    assertThat(causes(account(ring)))
        .isEqualTo(Map.of("closed_quiet", 3, "empty", 3, "cycle", 2, "self_parent", 1));
    assertThat(account(ring).service()).isEqualTo(ring.list().get(0).service());
  }

  @Test
  void excludedSpansAreCountedAlone() {
    Spans spans =
        trace()
            .add(1, 0, 0, 10)
            .add(2, 1, PRODUCER, 1, 2)
            .add(3, 2, CONSUMER, 3, 9)
            .add(4, 3, 4, 5)
            .add(5, 1, 20, 30);
    assertThat(causes(account(spans)))
        .isEqualTo(Map.of("closed_quiet", 5, "asynchronous", 2, "outside_parent", 1));
  }
}
