package dev.sluice.windows;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * What several messages or traces counted, summed by key and window.
 *
 * @param <K> whose it is
 * @param <S> what was counted
 */
public final class WindowSums<K, S extends Windowed<S>> {
  private final Map<K, Map<Long, S>> keys = new HashMap<>();
  private int rows;

  /** Adds what was counted, which is not the caller's any more. */
  public void add(K key, S counted) {
    S sum =
        keys.computeIfAbsent(key, each -> new HashMap<>()).putIfAbsent(counted.windowMs(), counted);
    if (sum == null) {
      rows++;
    } else {
      sum.merge(counted);
    }
  }

  /** How many rows there are. */
  public int rows() {
    return rows;
  }

  /** Gives the sums, in no order, and forgets them. */
  public void drain(BiConsumer<? super K, ? super S> visitor) {
    keys.forEach((key, windows) -> windows.values().forEach(sum -> visitor.accept(key, sum)));
    keys.clear();
    rows = 0;
  }
}
