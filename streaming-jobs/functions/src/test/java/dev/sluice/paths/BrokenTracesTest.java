package dev.sluice.paths;

import static dev.sluice.paths.Spans.text;
import static dev.sluice.paths.Spans.time;
import static dev.sluice.paths.Spans.trace;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** Traces that cannot be: each cause is counted, nothing is thrown, nothing runs for ever. */
class BrokenTracesTest {
  private static final int MANY = 100_000;

  @Test
  void ringsAreOnNoPathWithAllBelowThem() {
    CriticalPaths paths =
        trace()
            .add(1, 0, 0, 100)
            .add(2, 4, 10, 20)
            .add(3, 2, 10, 20)
            .add(4, 3, 10, 20)
            .add(5, 4, 12, 15)
            .paths();
    assertThat(text(paths.paths().get(0))).isEqualTo("1:0-100");
    assertThat(paths.paths()).hasSize(1);
    assertThat(paths.excluded(Exclusion.CYCLE)).isEqualTo(4);
  }

  @Test
  void spanThatIsItsOwnParentIsOnNoPathWithAllBelowIt() {
    CriticalPaths paths = trace().add(1, 0, 0, 100).add(2, 2, 10, 20).add(3, 2, 11, 12).paths();
    assertThat(paths.paths()).hasSize(1);
    assertThat(paths.excluded(Exclusion.SELF_PARENT)).isEqualTo(2);
    assertThat(paths.excluded(Exclusion.CYCLE)).isZero();
  }

  @Test
  void ofSpansWithOneIdTheFirstToStartStaysAndThenTheLastToEnd() {
    CriticalPaths paths =
        trace()
            .add(1, 0, 0, 100)
            .add(2, 1, 30, 40)
            .add(2, 1, 20, 25)
            .add(2, 1, 20, 28)
            .add(2, 1, 20, 28)
            .paths();
    assertThat(text(paths.paths().get(0))).isEqualTo("1:0-20 2:20-28 1:28-100");
    assertThat(paths.excluded(Exclusion.DUPLICATE_SPAN)).isEqualTo(3);
  }

  @Test
  void spanThatEndsBeforeItStartsIsLeftOutAndItsChildrenAreOrphans() {
    CriticalPaths paths = trace().add(1, 0, 100, 0).add(2, 1, 10, 20).paths();
    assertThat(paths.excluded(Exclusion.ENDS_BEFORE_START)).isEqualTo(1);
    assertThat(paths.paths()).singleElement().extracting(CriticalPath::incomplete).isEqualTo(true);
  }

  @Test
  void chainOfHundredThousandSpans() {
    // Span i is [i, 2 MANY - i): each has one ns before its child and one after.
    Spans trace = trace();
    for (int i = MANY - 1; i >= 0; i--) {
      trace.add(i + 1, i, i, 2L * MANY - i);
    }
    CriticalPath path = trace.path();
    assertThat(path.sections()).hasSize(2 * MANY - 1);
    assertThat(path.spans().get(MANY - 1).depth()).isEqualTo(MANY - 1);
    assertThat(ServiceTimes.of(path)).containsExactly(time("s", 2L * MANY, 0));
  }

  @Test
  void widthAndRingsOfHundredThousandSpansTakeNoQuadraticTime() {
    Spans wide = trace().add(1, 0, 0, MANY);
    Spans ring = trace();
    for (int i = 0; i < MANY; i++) {
      wide.add(i + 2, 1, (i * 7919L) % MANY, (i * 7919L) % MANY + 1);
      ring.add(i + 1, (i + 1) % MANY + 1, 0, 10);
    }
    Assertions.assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          assertThat(wide.path().sections()).hasSize(MANY);
          assertThat(ring.paths().excluded(Exclusion.CYCLE)).isEqualTo(MANY);
        });
  }

  @Test
  void extremeTimesDoNoHarm() {
    CriticalPaths paths =
        trace()
            .on("a")
            .add(1, 0, dev.sluice.otlp.Span.CLIENT, Long.MAX_VALUE - 10, Long.MAX_VALUE)
            .on("b")
            .add(2, 1, dev.sluice.otlp.Span.SERVER, 0, 5)
            .add(3, 2, dev.sluice.otlp.Span.INTERNAL, Long.MAX_VALUE - 5, Long.MAX_VALUE)
            .paths();
    assertThat(paths.paths().get(0).sections()).hasSize(3);
    assertThat(paths.excluded(Exclusion.OUTSIDE_PARENT)).isEqualTo(1);
  }
}
