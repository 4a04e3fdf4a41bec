package dev.sluice.otlp;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Patterns for values of spans' attributes. The decoder matches them while it reads. A match sets a
 * bit, so that nothing keeps a value of unbounded variety.
 */
public final class ValuePatterns {
  public static final ValuePatterns NONE = new ValuePatterns();

  /** As many as a long has bits. */
  public static final int MOST = Long.SIZE;

  private record Pattern(Glob glob, boolean path, long bit) {}

  /** The first bytes of a value exclude most values: three distinguish "/health" from "/items". */
  private static final int BEGIN = 3;

  private static final int SLOTS = 1 << 8;

  private final List<String> attributes = new ArrayList<>();
  private final List<List<Pattern>> patterns = new ArrayList<>();
  // For each attribute: the beginnings that may match.
  private final List<boolean[]> begins = new ArrayList<>();
  private final byte[] digits = new byte[19];
  private int size;

  /**
   * Adds patterns.
   *
   * @param names of attributes, any of which may match
   * @param globs any of which may match
   * @param path whether values are cut before their query
   * @return the bit in {@link Span#matched} of a match
   * @throws IllegalArgumentException if there are {@link #MOST} already
   */
  public long add(List<String> names, List<String> globs, boolean path) {
    long bit = bit();
    for (String name : names) {
      int at = attributes.indexOf(name);
      if (at < 0) {
        at = attributes.size();
        attributes.add(name);
        patterns.add(new ArrayList<>());
        begins.add(new boolean[SLOTS]);
      }
      for (String glob : globs) {
        Pattern pattern = new Pattern(new Glob(glob), path, bit);
        patterns.get(at).add(pattern);
        begin(begins.get(at), pattern);
      }
    }
    return bit;
  }

  /**
   * Reserves the bit of a condition that the caller checks.
   *
   * @throws IllegalArgumentException if there are {@link #MOST} already
   */
  public long bit() {
    if (size == MOST) {
      throw new IllegalArgumentException("match attributes of spans: more than " + MOST + " times");
    }
    return 1L << size++;
  }

  private static void begin(boolean[] begins, Pattern pattern) {
    byte[] head = pattern.glob.head();
    if (head.length >= BEGIN) {
      begins[slot(head, 0)] = true;
    } else if (!pattern.glob.isExact() || pattern.path) { // else it is shorter than a beginning
      Arrays.fill(begins, true);
    }
  }

  private static int slot(byte[] bytes, int at) {
    return (31 * (31 * bytes[at] + bytes[at + 1]) + bytes[at + 2]) & SLOTS - 1;
  }

  /** The names of attributes that have patterns. */
  public List<String> attributes() {
    return attributes;
  }

  long match(int attribute, long value) {
    if (value < 0) {
      return match(attribute, Long.toString(value));
    }
    int at = digits.length;
    long rest = value;
    do {
      digits[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    return match(attribute, digits, at, digits.length - at);
  }

  /** The same for a text. */
  public long match(int attribute, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    return match(attribute, bytes, 0, bytes.length);
  }

  /**
   * The bits of the patterns that the value of an attribute matches, by its place in {@link
   * #attributes}.
   */
  long match(int attribute, byte[] bytes, int offset, int length) {
    if (length >= BEGIN && !begins.get(attribute)[slot(bytes, offset)]) {
      return 0;
    }
    long bits = 0;
    int path = -1;
    for (Pattern pattern : patterns.get(attribute)) {
      if (pattern.path && path < 0) {
        path = beforeQuery(bytes, offset, length);
      }
      if (pattern.glob.matches(bytes, offset, pattern.path ? path : length)) {
        bits |= pattern.bit;
      }
    }
    return bits;
  }

  private static int beforeQuery(byte[] bytes, int offset, int length) {
    for (int i = 0; i < length; i++) {
      if (bytes[offset + i] == '?') {
        return i;
      }
    }
    return length;
  }
}
