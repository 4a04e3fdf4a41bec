package dev.sluice.trees;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts how often each text occurs, and which occurs most. Mutable; its fields are Flink's state.
 *
 * <p>Bounded: the first {@value #MAX_TEXTS} texts count separately; the rest counts together,
 * towards the total only.
 */
public final class Tally {
  static final int MAX_TEXTS = 64;

  public Map<String, Long> counts = new HashMap<>();
  public long others;

  public void add(String text, long times) {
    if (counts.size() < MAX_TEXTS || counts.containsKey(text)) {
      counts.merge(text, times, Long::sum);
    } else {
      others += times;
    }
  }

  public void merge(Tally part) {
    part.counts.forEach(this::add);
    others += part.others;
  }

  /** The total. */
  public long total() {
    long total = others;
    for (long count : counts.values()) {
      total += count;
    }
    return total;
  }

  /** The text with the highest count, the first in order of several; null without texts. */
  public String mostFrequent() {
    String first = null;
    long most = 0;
    for (Map.Entry<String, Long> entry : counts.entrySet()) {
      long count = entry.getValue();
      if (count > most || (count == most && entry.getKey().compareTo(first) < 0)) {
        first = entry.getKey();
        most = count;
      }
    }
    return first;
  }

  /** How often a text was counted. */
  public long count(String text) {
    return counts.getOrDefault(text, 0L);
  }
}
