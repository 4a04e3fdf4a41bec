package dev.sluice.sinks.clickhouse;

import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.flink.table.data.binary.BinaryStringData;

/** The body of an insert: bytes that grow, numbers little endian. */
final class RowBinaryBuffer extends OutputStream {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] all;
  private int size;

  RowBinaryBuffer(int capacity) {
    all = new byte[capacity];
  }

  private int room(int more) {
    int at = size;
    size = Math.addExact(size, more);
    if (size > all.length) {
      all =
          Arrays.copyOf(
              all, Math.max(size, (int) Math.min(2L * all.length, Integer.MAX_VALUE - 8)));
    }
    return at;
  }

  @Override
  public void write(int value) {
    int at = room(1);
    all[at] = (byte) value;
  }

  @Override
  public void write(byte[] bytes, int from, int length) {
    int at = room(length);
    System.arraycopy(bytes, from, all, at, length);
  }

  void number(long value, int bytes) {
    int at = room(bytes);
    switch (bytes) {
      case Long.BYTES -> LONG.set(all, at, value);
      case Integer.BYTES -> INT.set(all, at, (int) value);
      case Short.BYTES -> SHORT.set(all, at, (short) value);
      default -> all[at] = (byte) value;
    }
  }

  void length(int value) {
    int rest = value;
    while ((rest & ~0x7f) != 0) {
      write(rest & 0x7f | 0x80);
      rest >>>= 7;
    }
    write(rest);
  }

  /** A text after its length, in the UTF-8 that Flink already has. */
  void text(BinaryStringData text) {
    text.ensureMaterialized();
    int length = text.getSizeInBytes();
    length(length);
    int at = room(length);
    if (text.getSegments().length == 1) {
      text.getSegments()[0].get(text.getOffset(), all, at, length);
    } else {
      System.arraycopy(text.toBytes(), 0, all, at, length);
    }
  }

  /** The number of cells, then each key and count. */
  void counts(short[] keys, int[] values) {
    length(keys.length);
    int at = room(keys.length * (Short.BYTES + Integer.BYTES));
    for (int i = 0; i < keys.length; i++) {
      SHORT.set(all, at, keys[i]);
      INT.set(all, at + Short.BYTES, values[i]);
      at += Short.BYTES + Integer.BYTES;
    }
  }

  byte[] toByteArray() {
    return Arrays.copyOf(all, size);
  }

  int size() {
    return size;
  }

  /** The bytes from this position on, for a caller that keeps them. */
  byte[] since(int from) {
    return Arrays.copyOfRange(all, from, size);
  }
}
