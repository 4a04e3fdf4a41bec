package dev.sluice.windows;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The counts of several messages or traces, summed by key and window.
 *
 * @param <K> the key
 * @param <S> the counts
 */
public final class WindowSums<K, S extends Windowed<S>> {
  private final Map<K, Map<Long, S>> keys = new HashMap<>();
  private int rows;

  /** Adds counts, which the caller must not use any more. */
  public void add(K key, S counted) {
    S sum =
        keys.computeIfAbsent(key, absent -> new HashMap<>())
            .putIfAbsent(counted.windowMs(), counted);
    if (sum == null) {
      rows++;
    } else {
      sum.merge(counted);
    }
  }

  /** Number of rows. */
  public int rows() {
    return rows;
  }

  /** Passes the sums on, in no order, and clears them. */
  public void drain(BiConsumer<? super K, ? super S> visitor) {
    keys.forEach((key, windows) -> windows.values().forEach(sum -> visitor.accept(key, sum)));
    keys.clear();
    rows = 0;
  }
}
