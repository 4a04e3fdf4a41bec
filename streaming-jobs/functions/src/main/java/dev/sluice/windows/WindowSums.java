package dev.sluice.windows;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;

/**
 * The counts of spans, messages or traces, summed by key and window.
 *
 * @param <K> the key
 * @param <S> the counts
 */
public final class WindowSums<K, S extends Windowed<S>> {
  private final Map<K, Map<Long, S>> keys = new HashMap<>();
  private int rows;
  // A caller passes the same object for spans that follow one another, and most of them end in one
  // window: they cost no look-up, and no boxed number.
  private K lastKey;
  private Map<Long, S> lastWindows;
  private long lastWindowMs;
  private S last;

  /**
   * The counts of a key in a window, for the caller to add to.
   *
   * @param windowMs start of the window
   * @param empty the counts of a window that has none yet
   */
  public S at(K key, long windowMs, LongFunction<S> empty) {
    if (key == lastKey && last != null && windowMs == lastWindowMs) {
      return last;
    }
    if (key != lastKey) {
      lastWindows = keys.computeIfAbsent(key, absent -> new HashMap<>());
      lastKey = key;
    }
    S sum = lastWindows.get(windowMs);
    if (sum == null) {
      sum = empty.apply(windowMs);
      lastWindows.put(windowMs, sum);
      rows++;
    }
    lastWindowMs = windowMs;
    last = sum;
    return sum;
  }

  /** Adds counts, which the caller must not use any more. */
  public void add(K key, S counted) {
    S sum = at(key, counted.windowMs(), absent -> counted);
    if (sum != counted) {
      sum.merge(counted);
    }
  }

  /** Number of rows. */
  public int rows() {
    return rows;
  }

  /** Visits the sums, in no order. */
  public void forEach(BiConsumer<? super K, ? super S> visitor) {
    keys.forEach((key, windows) -> windows.values().forEach(sum -> visitor.accept(key, sum)));
  }

  public void clear() {
    keys.clear();
    rows = 0;
    lastKey = null;
    last = null;
  }

  /** Passes the sums on, in no order, and clears them. */
  public void drain(BiConsumer<? super K, ? super S> visitor) {
    forEach(visitor);
    clear();
  }
}
