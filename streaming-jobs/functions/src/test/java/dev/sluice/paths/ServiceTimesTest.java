package dev.sluice.paths;

import static dev.sluice.otlp.Span.CLIENT;
import static dev.sluice.otlp.Span.SERVER;
import static dev.sluice.paths.Spans.time;
import static dev.sluice.paths.Spans.trace;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServiceTimesTest {
  @Test
  void upstreamIsTheProcessingTimeOfAllServicesAbove() {
    CriticalPath path =
        trace()
            .of("frontend")
            .add(1, 0, 0, 100)
            .of("search")
            .add(2, 1, 10, 60)
            .of("geo")
            .add(3, 2, 20, 50)
            .of("profile")
            .add(4, 1, 70, 90)
            .path();
    assertThat(ServiceTimes.of(path))
        .containsExactly(
            time("frontend", 30, 0),
            time("search", 20, 30),
            time("geo", 30, 50),
            time("profile", 20, 30));
  }

  @Test
  void serviceOffThePathHasNoTime() {
    // geo [20, 50) runs beside rate [15, 55), which ends later: nobody waits for geo.
    CriticalPath path =
        trace()
            .of("search")
            .add(1, 0, 0, 60)
            .of("geo")
            .add(2, 1, 20, 50)
            .of("rate")
            .add(3, 1, 15, 55)
            .path();
    assertThat(ServiceTimes.of(path)).containsExactly(time("search", 20, 0), time("rate", 40, 20));
  }

  @Test
  void serviceThatIsAboveItselfIsNotUpstreamOfItself() {
    // a [0, 100) > b [10, 90) > a [20, 40) > c [25, 35): PT a = 20 + 10, b = 60, c = 10.
    CriticalPath path =
        trace()
            .of("a")
            .add(1, 0, 0, 100)
            .of("b")
            .add(2, 1, 10, 90)
            .of("a")
            .add(3, 2, 20, 40)
            .of("c")
            .add(4, 3, 25, 35)
            .path();
    assertThat(ServiceTimes.of(path))
        .containsExactly(time("a", 30, 0), time("b", 60, 30), time("c", 10, 90));
  }

  @Test
  void ofSeveralCallsTheLargestUpstreamCounts() {
    // db is called from a directly [10, 20), and through b [30, 90) in [40, 70): 30 of b above it.
    CriticalPath path =
        trace()
            .of("a")
            .add(1, 0, 0, 100)
            .of("db")
            .add(2, 1, 10, 20)
            .of("b")
            .add(3, 1, 30, 90)
            .of("db")
            .add(4, 3, 40, 70)
            .path();
    assertThat(ServiceTimes.of(path))
        .containsExactlyInAnyOrder(time("a", 30, 0), time("b", 30, 30), time("db", 40, 60));
  }

  /** frontend calls orders, which calls cart: waits of 40 and 5 in the CLIENT spans. */
  private static Spans chain() {
    return trace()
        .of("frontend")
        .add(1, 0, SERVER, 0, 100)
        .add(2, 1, CLIENT, 10, 95)
        .of("orders")
        .add(3, 2, SERVER, 50, 95)
        .add(4, 3, CLIENT, 55, 90)
        .of("cart")
        .add(5, 4, SERVER, 60, 90);
  }

  @Test
  void waitsForThreadsCountForTheCallerTheOwnerAndThoseWhoHoldThem() {
    // Orders holds its thread for 45, of which 35 wait for cart: 10 * 85 / 45 = 18.9, 35 * 85 / 45.
    assertThat(ServiceTimes.of(chain().path()))
        .containsExactly(
            new ServiceTime("frontend", 55, 0, 0, 0, 15),
            new ServiceTime("orders", 15, 55, 15, 40, 18),
            new ServiceTime("cart", 30, 70, 65, 5, 67));
  }

  @Test
  void aWaitForOtherServicesIsNotUpstreamOfTheNextCall() {
    // a waits 30 for a thread of b, and calls c afterwards: above c are the 20 that a takes itself.
    CriticalPath path =
        trace()
            .of("a")
            .add(1, 0, SERVER, 0, 100)
            .add(2, 1, CLIENT, 10, 60)
            .add(4, 1, CLIENT, 60, 90)
            .of("b")
            .add(3, 2, SERVER, 40, 60)
            .of("c")
            .add(5, 4, SERVER, 60, 90)
            .path();
    assertThat(ServiceTimes.of(path))
        .containsExactly(
            new ServiceTime("a", 50, 0, 0, 0, 20),
            new ServiceTime("b", 20, 50, 20, 30, 50),
            new ServiceTime("c", 30, 50, 20, 0, 30));
  }

  @Test
  void waitForOnesOwnThreadsThroughAnotherServiceIsOnesOwn() {
    // a > b > a: b waits 20 for a thread of a.
    CriticalPath path =
        trace()
            .of("a")
            .add(1, 0, SERVER, 0, 100)
            .add(2, 1, CLIENT, 10, 90)
            .of("b")
            .add(3, 2, SERVER, 10, 90)
            .add(4, 3, CLIENT, 20, 60)
            .of("a")
            .add(5, 4, SERVER, 40, 60)
            .path();
    assertThat(ServiceTimes.of(path))
        .containsExactly(
            new ServiceTime("a", 40, 0, 0, 20, 60), new ServiceTime("b", 60, 40, 60, 0, 40));
  }

  @Test
  void serverSpanOfNoLengthTakesItsWaitItself() {
    // CLIENT [10, 60), SERVER [50, 50): 40 before it, 10 behind it.
    CriticalPath path =
        trace()
            .of("a")
            .add(1, 0, SERVER, 0, 100)
            .add(2, 1, CLIENT, 10, 60)
            .of("b")
            .add(3, 2, SERVER, 50, 50)
            .path();
    assertThat(ServiceTimes.of(path))
        .containsExactly(
            new ServiceTime("a", 100, 0, 0, 0, 70), new ServiceTime("b", 0, 100, 70, 30, 30));
  }
}
