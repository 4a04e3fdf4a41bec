package dev.sluice.traces;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TraceTimesTest {
  private static Map<TraceId, Long> all(TraceTimes times) {
    Map<TraceId, Long> all = new HashMap<>();
    times.forEach((id, ms) -> assertThat(all.put(id, ms)).isNull());
    return all;
  }

  @Test
  void anIdHasItsNewestTime() {
    TraceTimes times = new TraceTimes();
    times.put(1, 2, 10);
    times.put(1, 2, 7);
    assertThat(times.get(1, 2)).isEqualTo(7);
    assertThat(times.get(2, 1)).isEqualTo(TraceTimes.NONE);
    assertThat(all(times)).containsOnly(Map.entry(new TraceId(1, 2), 7L));
  }

  /** One half of a valid id may be 0. */
  @Test
  void halvesThatAreZeroAreNoFreeSlot() {
    TraceTimes times = new TraceTimes();
    times.put(0, 1, 10);
    times.put(1, 0, 11);
    assertThat(times.get(0, 1)).isEqualTo(10);
    assertThat(times.get(1, 0)).isEqualTo(11);
    times.remove(0, 1);
    assertThat(all(times)).containsOnly(Map.entry(new TraceId(1, 0), 11L));
  }

  /** Even numbers put an id, odd ones remove it: few ids, so that they share slots. */
  @Property
  void isLikeAMap(@ForAll @Size(max = 500) List<@IntRange(min = 2, max = 121) Integer> steps) {
    TraceTimes times = new TraceTimes();
    Map<TraceId, Long> map = new HashMap<>();
    for (int i = 0; i < steps.size(); i++) {
      long half = steps.get(i) / 2;
      if (steps.get(i) % 2 == 0) {
        times.put(half, half % 3, i);
        map.put(new TraceId(half, half % 3), (long) i);
      } else {
        times.remove(half, half % 3);
        map.remove(new TraceId(half, half % 3));
      }
      long ms = map.getOrDefault(new TraceId(half, half % 3), TraceTimes.NONE);
      assertThat(times.get(half, half % 3)).isEqualTo(ms);
    }
    assertThat(all(times)).isEqualTo(map);
  }
}
