package dev.sluice.traces;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SessionTest {
  private static final TraceSpan SPAN =
      new TraceSpan(1, 0, 2, false, false, 0, 1, "a", "", "", "op", "", "", 0, Place.NONE);

  /** Quiet time 5, maximum age 12. */
  private static Session session(long... recordMs) {
    Session session =
        new Session(new OpenTraces.Bounds(5, 0, 12, 0, 100, 100, 1 << 20), recordMs[0]);
    for (long ms : recordMs) {
      assertThat(ms).as("still belongs to it").isLessThan(session.dueMs());
      session.add(ms, List.of(SPAN));
    }
    return session;
  }

  @Test
  void isDueAfterTheQuietTime() {
    Session session = session(10, 14);
    assertThat(session.dueMs()).isEqualTo(19);
    assertThat(session.atMaxAge()).isFalse();
    assertThat(session.firstMs()).isEqualTo(10);
  }

  @Test
  void endsAtTheMaximumAge() {
    Session session = session(10, 14, 18, 21);
    assertThat(session.dueMs()).isEqualTo(22);
    assertThat(session.atMaxAge()).isTrue();
  }

  @Test
  void quietUntilJustTheMaximumAgeIsQuiet() {
    Session session = session(10, 14, 17);
    assertThat(session.dueMs()).isEqualTo(22);
    assertThat(session.atMaxAge()).isFalse();
  }
}
