package dev.sluice.paths;

import static dev.sluice.otlp.Span.CLIENT;
import static dev.sluice.otlp.Span.CONSUMER;
import static dev.sluice.otlp.Span.INTERNAL;
import static dev.sluice.otlp.Span.PRODUCER;
import static dev.sluice.otlp.Span.SERVER;
import static dev.sluice.paths.Spans.text;
import static dev.sluice.paths.Spans.trace;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The eight rules, each by numbers worked out by hand. */
class CriticalPathRulesTest {

  // Rule 1: back from the end.

  @Test
  void spanAloneIsItsOwnPath() {
    assertThat(text(trace().add(1, 0, 0, 100).path())).isEqualTo("1:0-100");
  }

  @Test
  void parentHasWhatItsChildDoesNotCover() {
    assertThat(text(trace().add(1, 0, 0, 100).add(2, 1, 10, 60).path()))
        .isEqualTo("1:0-10 2:10-60 1:60-100");
  }

  @Test
  void childThatHadNotFinishedWhenTheNextBeganIsNotWaitedFor() {
    // 2 ends at 45, 3 began at 40: beside 3, nobody waited for 2. 4 had finished at 40.
    assertThat(
            text(
                trace()
                    .add(1, 0, 0, 80)
                    .add(4, 1, 5, 30)
                    .add(2, 1, 20, 45)
                    .add(3, 1, 40, 65)
                    .path()))
        .isEqualTo("1:0-5 4:5-30 1:30-40 3:40-65 1:65-80");
  }

  @Test
  void walkRecursesIntoTheChild() {
    assertThat(
            text(
                trace()
                    .add(1, 0, 0, 100)
                    .add(2, 1, 10, 90)
                    .add(3, 2, 20, 50)
                    .add(4, 2, 60, 80)
                    .add(5, 4, 65, 70)
                    .path()))
        .isEqualTo("1:0-10 2:10-20 3:20-50 2:50-60 4:60-65 5:65-70 4:70-80 2:80-90 1:90-100");
  }

  // Rule 2: touching siblings.

  @Test
  void siblingThatEndsWhenTheNextStartsIsOnThePath() {
    assertThat(text(trace().add(1, 0, 0, 100).add(2, 1, 10, 50).add(3, 1, 50, 90).path()))
        .isEqualTo("1:0-10 2:10-50 3:50-90 1:90-100");
    assertThat(text(trace().add(1, 0, 0, 100).add(2, 1, 10, 51).add(3, 1, 50, 90).path()))
        .isEqualTo("1:0-50 3:50-90 1:90-100");
  }

  // Rule 3: ties.

  @Test
  void ofChildrenThatEndTogetherTheLaterStartWins() {
    assertThat(text(trace().add(1, 0, 0, 100).add(3, 1, 10, 90).add(2, 1, 40, 90).path()))
        .isEqualTo("1:0-40 2:40-90 1:90-100");
  }

  @Test
  void ofEqualChildrenTheLargerIdWins() {
    assertThat(text(trace().add(1, 0, 0, 100).add(2, 1, 10, 90).add(3, 1, 10, 90).path()))
        .isEqualTo("1:0-10 3:10-90 1:90-100");
    // By bytes, and unsigned: 0x0100 is larger than 0x00ff, ff00000000000000 than 1.
    assertThat(text(trace().add(1, 0, 0, 9).add(0xff, 1, 1, 9).add(0x100, 1, 1, 9).path()))
        .isEqualTo("1:0-1 256:1-9");
    assertThat(text(trace().add(1, 0, 0, 9).add(2, 1, 1, 9).add(-1L << 56, 1, 1, 9).path()))
        .isEqualTo("1:0-1 " + (-1L << 56) + ":1-9");
  }

  @Test
  void tiesAreDecidedAfterClipping() {
    // Both end at 100 once they are clipped; 2 starts later, though 3 ended later by its own times.
    assertThat(text(trace().add(1, 0, 0, 100).add(3, 1, 10, 150).add(2, 1, 40, 120).path()))
        .isEqualTo("1:0-40 2:40-100");
  }

  // Rule 4: overflow.

  @Test
  void overflowIsClippedOnEitherSideAndOnBoth() {
    assertThat(text(trace().add(1, 0, 100, 200).add(2, 1, 50, 130).path()))
        .isEqualTo("2:100-130 1:130-200");
    assertThat(text(trace().add(1, 0, 100, 200).add(2, 1, 170, 230).path()))
        .isEqualTo("1:100-170 2:170-200");
    assertThat(text(trace().add(1, 0, 100, 200).add(2, 1, 50, 230).path())).isEqualTo("2:100-200");
  }

  @Test
  void grandchildIsClippedToWhatIsLeftOfItsParent() {
    assertThat(text(trace().add(1, 0, 0, 100).add(2, 1, 60, 140).add(3, 2, 80, 130).path()))
        .isEqualTo("1:0-60 2:60-80 3:80-100");
  }

  @Test
  void childWhollyOutsideIsDroppedWithItsSubtree() {
    // 3 lies inside of 1, but its parent 2 does not. 5 touches 1, and shares no time with it.
    CriticalPaths paths =
        trace()
            .add(1, 0, 0, 100)
            .add(2, 1, 110, 160)
            .add(3, 2, 20, 70)
            .add(4, 3, 30, 60)
            .add(5, 1, 100, 120)
            .paths();
    assertThat(text(paths.paths().get(0))).isEqualTo("1:0-100");
    assertThat(paths.excluded(Exclusion.OUTSIDE_PARENT)).isEqualTo(4);
  }

  @Test
  void pointAtTheEdgeOfItsParentIsInside() {
    CriticalPaths paths =
        trace().add(1, 0, 0, 100).add(2, 1, 100, 100).add(3, 1, 0, 0).add(4, 1, 50, 50).paths();
    assertThat(text(paths.paths().get(0))).isEqualTo("1:0-100");
    assertThat(paths.paths().get(0).spans()).hasSize(4);
    assertThat(paths.excluded(Exclusion.OUTSIDE_PARENT)).isZero();
  }

  // Rule 5: clock skew.

  @Test
  void serverSpanOnAnotherHostIsMovedToTheMiddleOfItsClientSpan() {
    // 100 ns wait for 60 ns of work: 20 ns each way. Its child moves with it.
    assertThat(
            text(
                trace()
                    .on("a")
                    .add(1, 0, CLIENT, 100, 200)
                    .on("b")
                    .add(2, 1, SERVER, 5_000, 5_060)
                    .add(3, 2, 5_010, 5_030)
                    .path()))
        .isEqualTo("1:100-120 2:120-130 3:130-150 2:150-180 1:180-200");
  }

  @Test
  void correctionEndsWhereTheNextHostBegins() {
    // Host b runs 1,000 ahead; its CLIENT span 3 moves with 2 to [40, 60), where host a's 4 fits.
    assertThat(
            text(
                trace()
                    .on("a")
                    .add(1, 0, CLIENT, 0, 100)
                    .on("b")
                    .add(2, 1, SERVER, 1_020, 1_080)
                    .add(3, 2, CLIENT, 1_040, 1_060)
                    .on("a")
                    .add(4, 3, SERVER, 45, 55)
                    .path()))
        .isEqualTo("1:0-20 2:20-40 3:40-45 4:45-55 3:55-60 2:60-80 1:80-100");
  }

  @Test
  void longerServerSpanIsNeverDroppedForSkew() {
    assertThat(text(skewed(90, 300))).isEqualTo("2:100-200");
    assertThat(text(skewed(500, 700))).isEqualTo("2:100-200");
    assertThat(text(skewed(150, 300))).isEqualTo("1:100-150 2:150-200");
    // A client that did not wait at all.
    CriticalPaths point =
        trace().on("a").add(1, 0, CLIENT, 100, 100).on("b").add(2, 1, SERVER, 500, 700).paths();
    assertThat(point.excluded(Exclusion.OUTSIDE_PARENT)).isZero();
  }

  private static CriticalPath skewed(long start, long end) {
    return trace().on("a").add(1, 0, CLIENT, 100, 200).on("b").add(2, 1, SERVER, start, end).path();
  }

  @Test
  void spanThatFitsIsNotMoved() {
    assertThat(text(skewed(110, 115))).isEqualTo("1:100-110 2:110-115 1:115-200");
  }

  @Test
  void nothingIsMovedOnOneHostOrWhereTheHostIsNotKnownOrBetweenOtherKinds() {
    for (String[] hosts : new String[][] {{"a", "a"}, {"a", ""}, {"", "b"}, {"", ""}}) {
      CriticalPath path =
          trace()
              .on(hosts[0])
              .add(1, 0, CLIENT, 100, 200)
              .on(hosts[1])
              .add(2, 1, SERVER, 180, 210)
              .path();
      assertThat(text(path)).as(List.of(hosts).toString()).isEqualTo("1:100-180 2:180-200");
    }
    assertThat(
            text(
                trace()
                    .on("a")
                    .add(1, 0, INTERNAL, 100, 200)
                    .on("b")
                    .add(2, 1, SERVER, 180, 210)
                    .path()))
        .isEqualTo("1:100-180 2:180-200");
  }

  // Rule 6: asynchronous work.

  @Test
  void consumerBelowProducerIsOnNoPathWithAllBelowIt() {
    CriticalPaths paths =
        trace()
            .add(1, 0, SERVER, 0, 100)
            .add(2, 1, PRODUCER, 10, 90)
            .add(3, 2, CONSUMER, 20, 80)
            .add(4, 3, INTERNAL, 30, 70)
            .add(5, 2, INTERNAL, 40, 50)
            .paths();
    assertThat(text(paths.paths().get(0))).isEqualTo("1:0-10 2:10-40 5:40-50 2:50-90 1:90-100");
    assertThat(paths.paths()).hasSize(1);
    assertThat(paths.excluded(Exclusion.ASYNCHRONOUS)).isEqualTo(2);
  }

  @Test
  void consumerBelowAnotherKindIsWaitedFor() {
    assertThat(text(trace().add(1, 0, SERVER, 0, 100).add(2, 1, CONSUMER, 20, 80).path()))
        .isEqualTo("1:0-20 2:20-80 1:80-100");
  }

  @Test
  void spanThatIsOnlyLinkedToItsTraceIsOnNoPath() {
    CriticalPaths paths = trace().add(1, 0, 0, 100).linked(2, 20, 300).add(3, 2, 30, 200).paths();
    assertThat(paths.paths()).hasSize(1);
    assertThat(text(paths.paths().get(0))).isEqualTo("1:0-100");
    assertThat(paths.excluded(Exclusion.ASYNCHRONOUS)).isEqualTo(2);
  }

  // Rule 7: orphans, and roots of zero length.

  @Test
  void orphanIsARootOfItsOwnAndIncomplete() {
    List<CriticalPath> paths =
        trace().add(5, 99, 40, 60).add(6, 5, 50, 55).add(1, 0, 0, 100).paths().paths();
    assertThat(paths).extracting(Spans::text).containsExactly("1:0-100", "5:40-50 6:50-55 5:55-60");
    assertThat(paths).extracting(CriticalPath::incomplete).containsExactly(false, true);
  }

  @Test
  void rootOfZeroLengthIsAnEmptyPath() {
    CriticalPath path = trace().add(1, 0, 7, 7).add(2, 1, 7, 7).path();
    assertThat(path.sections()).isEmpty();
    assertThat(path.spans()).extracting(PathSpan::selfNs).containsExactly(0L, 0L);
    assertThat(trace().add(1, 0, 7, 7).add(2, 1, 5, 9).path().sections()).isEmpty();
  }

  @Test
  void noSpansAreNoPaths() {
    assertThat(trace().paths().paths()).isEmpty();
  }

  // Rule 8: a section for every moment of the root, and only one.

  @Test
  void childrenThatAllOverlapAndOverflowSumToTheRootsDuration() {
    CriticalPath path =
        trace()
            .add(1, 0, 100, 200)
            .add(2, 1, 90, 150)
            .add(3, 1, 140, 160)
            .add(4, 1, 150, 260)
            .add(5, 4, 100, 300)
            .add(6, 2, 95, 100)
            .path();
    // 4 becomes [150, 200), 5 in it [150, 200); 2 touches it: [100, 150); 6 shares no time with it.
    assertThat(text(path)).isEqualTo("2:100-150 5:150-200");
    assertThat(path.spans()).extracting(PathSpan::selfNs).containsExactly(0L, 50L, 0L, 50L);
    assertThat(path.spans()).extracting(PathSpan::depth).containsExactly(0, 1, 1, 2);
  }

  // Waits for threads.

  private static List<Long> waits(Spans spans) {
    return spans.path().spans().stream().map(PathSpan::waitNs).toList();
  }

  @Test
  void waitIsWhatTheGapBeforeTheServerSpanIsLongerThanTheOneBehindIt() {
    assertThat(waits(trace().add(1, 0, CLIENT, 0, 100).add(2, 1, SERVER, 70, 95)))
        .containsExactly(0L, 65L);
    assertThat(waits(trace().add(1, 0, CLIENT, 0, 100).add(2, 1, SERVER, 10, 80)))
        .containsExactly(0L, 0L);
    // The client gave up: its span ends within the other.
    assertThat(waits(trace().add(1, 0, CLIENT, 0, 100).add(2, 1, SERVER, 70, 200)))
        .containsExactly(0L, 70L);
  }

  @Test
  void onlyServerSpansOfClientSpansWait() {
    assertThat(waits(trace().add(1, 0, SERVER, 0, 100).add(2, 1, SERVER, 70, 95)))
        .containsExactly(0L, 0L);
    assertThat(waits(trace().add(1, 0, CLIENT, 0, 100).add(2, 1, 70, 95))).containsExactly(0L, 0L);
  }

  @Test
  void gapsEndAtOtherChildrenOnThePath() {
    // A look-up of the name [0, 20), then the request: 70 - 20 = 50 before it, 5 behind it.
    assertThat(waits(trace().add(1, 0, CLIENT, 0, 100).add(3, 1, 0, 20).add(2, 1, SERVER, 70, 95)))
        .containsExactly(0L, 0L, 45L);
    // Two tries: 10 before and 20 behind the first, 20 before and 5 behind the second.
    Spans tries = trace().add(1, 0, CLIENT, 0, 100);
    assertThat(waits(tries.add(2, 1, SERVER, 10, 50).add(3, 1, SERVER, 70, 95)))
        .containsExactly(0L, 0L, 15L);
    // [30, 60) ends within the SERVER span, so nobody waited for it: off the path.
    Spans beside = trace().add(1, 0, CLIENT, 0, 100).add(3, 1, 30, 60);
    assertThat(waits(beside.add(2, 1, SERVER, 50, 95))).containsExactly(0L, 45L);
  }

  @Test
  void aServerSpanThatEndsAfterItsResponseKeepsItsWait() {
    // Tomcat flushes, then ends its span: [70, 102) goes to [68, 100).
    Spans spans = trace().on("a").add(1, 0, CLIENT, 0, 100).on("b").add(2, 1, SERVER, 70, 102);
    assertThat(text(spans.path())).isEqualTo("1:0-68 2:68-100");
    assertThat(waits(spans)).containsExactly(0L, 68L);
  }

  @Test
  void aServerSpanThatIsMovedForSkewHidesItsWait() {
    Spans spans = trace().on("a").add(1, 0, CLIENT, 0, 100).on("b").add(2, 1, SERVER, 970, 995);
    assertThat(text(spans.path())).isEqualTo("1:0-37 2:37-62 1:62-100");
    assertThat(waits(spans)).containsExactly(0L, 0L);
  }
}
