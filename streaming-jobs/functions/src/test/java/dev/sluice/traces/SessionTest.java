package dev.sluice.traces;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SessionTest {
  private static List<byte[]> fragments(Long... receivedMs) {
    List<byte[]> fragments = new ArrayList<>();
    for (long ms : receivedMs) {
      Fragment fragment = new Fragment();
      fragments.add(fragment.encode(ms));
    }
    return fragments;
  }

  /** Quiet time 5, maximum age 12. */
  private static List<String> split(List<byte[]> fragments) {
    return Session.split(fragments, 5, 12).stream()
        .map(
            session ->
                session.fragments().stream().map(Fragment::receivedMs).toList()
                    + " due "
                    + session.dueMs()
                    + (session.atMaxAge() ? " old" : ""))
        .toList();
  }

  @Test
  void gapOfTheQuietTimeStartsAnew() {
    assertThat(split(fragments(10L, 14L, 19L, 23L)))
        .containsExactly("[10, 14] due 19", "[19, 23] due 28");
  }

  @Test
  void sessionEndsAtTheMaximumAge() {
    assertThat(split(fragments(10L, 14L, 18L, 21L, 22L)))
        .containsExactly("[10, 14, 18, 21] due 22 old", "[22] due 27");
  }

  @Test
  void quietUntilJustTheMaximumAgeIsQuiet() {
    assertThat(split(fragments(10L, 14L, 17L))).containsExactly("[10, 14, 17] due 22");
  }

  @Test
  void sessionBeginsWithItsFirstFragment() {
    assertThat(Session.split(fragments(23L, 14L, 10L), 5, 12))
        .extracting(Session::firstMs)
        .containsExactly(10L, 23L);
  }

  @Test
  void nothingIsNoSession() {
    assertThat(split(fragments())).isEmpty();
  }

  @Property(tries = 200)
  void orderOfArrivalDoesNotMatter(
      @ForAll List<@LongRange(min = 0, max = 60) Long> receivedMs, @ForAll long seed) {
    List<byte[]> fragments = fragments(receivedMs.toArray(Long[]::new));
    List<String> expected = split(fragments);
    Collections.shuffle(fragments, new Random(seed));
    assertThat(split(fragments)).isEqualTo(expected);
  }
}
