package dev.sluice.paths;

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
            new ServiceTime("frontend", 30, 0),
            new ServiceTime("search", 20, 30),
            new ServiceTime("geo", 30, 50),
            new ServiceTime("profile", 20, 30));
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
    assertThat(ServiceTimes.of(path))
        .containsExactly(new ServiceTime("search", 20, 0), new ServiceTime("rate", 40, 20));
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
        .containsExactly(
            new ServiceTime("a", 30, 0),
            new ServiceTime("b", 60, 30),
            new ServiceTime("c", 10, 90));
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
        .containsExactlyInAnyOrder(
            new ServiceTime("a", 30, 0),
            new ServiceTime("b", 30, 30),
            new ServiceTime("db", 40, 60));
  }
}
