package dev.sluice.otlp;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A pattern of text in which {@code *} stands for any text, also an empty one; all other characters
 * stand for themselves. It matches UTF-8 bytes of the message, so that a value needs no decoding:
 * most values differ from the pattern in their first byte.
 */
public final class Glob {
  private final byte[] head;
  // The parts between head and tail, in this order; null without a star.
  private final byte[][] middle;
  private final byte[] tail;

  public Glob(String pattern) {
    String[] parts = pattern.split("\\*", -1);
    head = parts[0].getBytes(StandardCharsets.UTF_8);
    tail = parts[parts.length - 1].getBytes(StandardCharsets.UTF_8);
    List<byte[]> between = new ArrayList<>();
    for (int i = 1; i < parts.length - 1; i++) {
      if (!parts[i].isEmpty()) {
        between.add(parts[i].getBytes(StandardCharsets.UTF_8));
      }
    }
    middle = parts.length == 1 ? null : between.toArray(byte[][]::new);
  }

  /** Whether one text alone matches. */
  boolean isExact() {
    return middle == null;
  }

  /** The beginning of every text that matches. */
  byte[] head() {
    return head;
  }

  public boolean matches(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return matches(bytes, 0, bytes.length);
  }

  /** Whether this many bytes from an offset on match. */
  public boolean matches(byte[] bytes, int offset, int length) {
    int end = offset + length;
    if (middle == null) {
      return length == head.length && isAt(head, bytes, offset);
    }
    if (length < head.length + tail.length
        || !isAt(head, bytes, offset)
        || !isAt(tail, bytes, end - tail.length)) {
      return false;
    }
    int at = offset + head.length;
    for (byte[] part : middle) {
      at = behind(part, bytes, at, end - tail.length);
      if (at < 0) {
        return false;
      }
    }
    return true;
  }

  private static boolean isAt(byte[] part, byte[] bytes, int at) {
    // The first byte excludes nearly all, without a call.
    return part.length == 0
        || part[0] == bytes[at] && Arrays.equals(part, 0, part.length, bytes, at, at + part.length);
  }

  /** The position after the first occurrence of a part, or -1. */
  private static int behind(byte[] part, byte[] bytes, int from, int end) {
    for (int at = from; at <= end - part.length; at++) {
      if (isAt(part, bytes, at)) {
        return at + part.length;
      }
    }
    return -1;
  }
}
