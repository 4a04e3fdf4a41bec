package dev.sluice.otlp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * UTF-8 bytes to strings, remembering the last string of each slot: names repeat, so nearly every
 * look-up is a comparison of bytes instead of a decoding and an allocation. Fixed in size; a
 * collision replaces. Bytes that are not UTF-8 become U+FFFD.
 */
final class StringPool {
  private static final int SLOTS = 1 << 12;
  private static final int LONGEST_KEPT = 256;

  private final byte[][] keys = new byte[SLOTS][];
  private final String[] values = new String[SLOTS];

  String get(byte[] bytes, int offset, int length) {
    if (length == 0) {
      return "";
    }
    if (length > LONGEST_KEPT) {
      return new String(bytes, offset, length, StandardCharsets.UTF_8);
    }
    int slot = Bytes.hash(bytes, offset, length) & (SLOTS - 1);
    byte[] key = keys[slot];
    if (key == null || !Arrays.equals(key, 0, key.length, bytes, offset, offset + length)) {
      keys[slot] = Arrays.copyOfRange(bytes, offset, offset + length);
      values[slot] = new String(bytes, offset, length, StandardCharsets.UTF_8);
    }
    return values[slot];
  }
}
