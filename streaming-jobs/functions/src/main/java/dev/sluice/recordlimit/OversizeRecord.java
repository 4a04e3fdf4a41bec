package dev.sluice.recordlimit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What stands in the place of a record's value that was not read, because the record is too large.
 * It begins with a zero byte, as no protobuf message does.
 *
 * @param size bytes that the record has once its batch is decompressed
 * @param limit what it may have
 */
public record OversizeRecord(int size, int limit) {
  private static final byte[] MARK = "\0sluice: oversize record\0".getBytes(StandardCharsets.UTF_8);

  public byte[] encode() {
    return ByteBuffer.allocate(MARK.length + 8).put(MARK).putInt(size).putInt(limit).array();
  }

  /** Null for a value that is none of {@link #encode}. */
  public static OversizeRecord decode(byte[] value) {
    if (value == null
        || value.length != MARK.length + 8
        || !Arrays.equals(value, 0, MARK.length, MARK, 0, MARK.length)) {
      return null;
    }
    ByteBuffer numbers = ByteBuffer.wrap(value, MARK.length, 8);
    return new OversizeRecord(numbers.getInt(), numbers.getInt());
  }
}
