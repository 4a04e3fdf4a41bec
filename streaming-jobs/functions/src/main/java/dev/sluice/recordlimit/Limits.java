package dev.sluice.recordlimit;

import java.util.Map;
import java.util.TreeMap;

/**
 * What may be decompressed.
 *
 * @param recordBytes the largest record that is read
 * @param pollBytes a poll ends with the record that reaches this sum
 */
public record Limits(int recordBytes, int pollBytes) {
  static final Limits DEFAULT = new Limits(16 << 20, 4 << 20);

  private static final String RECORD = "max-record-bytes";
  private static final String POLL = "max-poll-bytes";
  // The upper bound leaves the size of an array; below the lower one nothing sensible is read.
  private static final int LEAST = 1 << 10;
  private static final int MOST = 1 << 30;

  private static volatile Limits current = DEFAULT;

  public Limits {
    check(RECORD, recordBytes);
    check(POLL, pollBytes);
  }

  static Limits current() {
    return current;
  }

  static void set(Limits limits) {
    current = limits;
  }

  /**
   * Reads an agent's options: {@code max-record-bytes=N,max-poll-bytes=N}, each of which may be
   * left out.
   *
   * @param options null or empty for the defaults
   * @throws IllegalArgumentException names the option and what is legal
   */
  static Limits parse(String options) {
    Map<String, Integer> values =
        new TreeMap<>(Map.of(RECORD, DEFAULT.recordBytes, POLL, DEFAULT.pollBytes));
    for (String option :
        options == null || options.isEmpty() ? new String[0] : options.split(",")) {
      String[] words = option.split("=", 2);
      if (words.length != 2 || !values.containsKey(words[0])) {
        throw new IllegalArgumentException(
            "option " + option + ": must be " + RECORD + "=N or " + POLL + "=N");
      }
      try {
        values.put(words[0], Integer.parseInt(words[1]));
      } catch (NumberFormatException e) {
        throw illegal(words[0], words[1]);
      }
    }
    return new Limits(values.get(RECORD), values.get(POLL));
  }

  private static void check(String name, int bytes) {
    if (bytes < LEAST || bytes > MOST) {
      throw illegal(name, Integer.toString(bytes));
    }
  }

  private static IllegalArgumentException illegal(String name, String value) {
    return new IllegalArgumentException(
        "option " + name + " is " + value + ": must be " + LEAST + " to " + MOST);
  }
}
