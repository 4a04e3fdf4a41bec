package dev.sluice.otlp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads numbers and hexadecimal text out of byte arrays. */
public final class Bytes {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L; // odd, 2^64 / golden ratio
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private Bytes() {}

  /** The eight bytes from {@code offset}, little endian. */
  public static long longAt(byte[] bytes, int offset) {
    return (long) LONG.get(bytes, offset);
  }

  /** Lower-case hexadecimal, two digits a byte; ids are written so everywhere outside OTLP. */
  public static String hex(byte[] bytes, int offset, int length) {
    char[] text = new char[2 * length];
    for (int i = 0; i < length; i++) {
      text[2 * i] = HEX[(bytes[offset + i] >> 4) & 0xF];
      text[2 * i + 1] = HEX[bytes[offset + i] & 0xF];
    }
    return new String(text);
  }

  /** A hash of all bytes, eight at a time; the last word overlaps the one before. */
  static int hash(byte[] bytes, int offset, int length) {
    long hash = length;
    if (length >= Long.BYTES) {
      int last = offset + length - Long.BYTES;
      for (int at = offset; at < last; at += Long.BYTES) {
        hash = (hash ^ longAt(bytes, at)) * MIX;
      }
      hash = (hash ^ longAt(bytes, last)) * MIX;
    } else {
      for (int i = 0; i < length; i++) {
        hash = (hash ^ bytes[offset + i]) * MIX;
      }
    }
    // A product's upper half depends on all bits below it.
    return (int) (hash >>> 32);
  }
}
