package dev.sluice.otlp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Converts UTF-8 bytes to strings, and remembers the last string of each slot. Names repeat, so
 * nearly every look-up is a comparison of bytes instead of a decoding and an allocation. It has a
 * fixed size; a collision replaces a string. Bytes that are not UTF-8 become U+FFFD.
 *
 * <p>It cuts longer text to {@value #LONGEST} bytes, and splits no character: every row of a span
 * repeats its names, so that one huge attribute would fill memory.
 */
final class StringPool {
  private static final int SLOTS = 1 << 12;
  private static final int LONGEST = 256;

  private final byte[][] keys = new byte[SLOTS][];
  private final String[] values = new String[SLOTS];

  String get(byte[] bytes, int offset, int length) {
    if (length == 0) {
      return "";
    }
    int kept = length <= LONGEST ? length : cut(bytes, offset);
    int slot = Bytes.hash(bytes, offset, kept) & (SLOTS - 1);
    byte[] key = keys[slot];
    if (key == null || !Arrays.equals(key, 0, key.length, bytes, offset, offset + kept)) {
      keys[slot] = Arrays.copyOfRange(bytes, offset, offset + kept);
      values[slot] = new String(bytes, offset, kept, StandardCharsets.UTF_8);
    }
    return values[slot];
  }

  private static int cut(byte[] bytes, int offset) {
    int length = LONGEST;
    // A character has at most three bytes after its first.
    while (length > LONGEST - 3 && (bytes[offset + length] & 0xC0) == 0x80) {
      length--;
    }
    return length;
  }
}
