package dev.sluice.otlp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads numbers and hexadecimal text out of byte arrays. */
public final class Bytes {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
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

  static int hash(byte[] bytes, int offset, int length) {
    int hash = length;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + bytes[offset + i];
    }
    return hash ^ (hash >>> 15);
  }
}
