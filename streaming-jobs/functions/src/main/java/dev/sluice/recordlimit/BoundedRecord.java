package dev.sluice.recordlimit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads the size of a record before Kafka's client makes room for it. A record of a compressed
 * batch is a varint of its size and then that many bytes: attributes, the differences of its time
 * and offset to the batch's, key, value and headers (Kafka's message format, version 2).
 */
public final class BoundedRecord {
  private static final int LONGEST_VARINT = 5;
  private static final int CHUNK = 1 << 16;
  private static final int NULL = -1;

  private BoundedRecord() {}

  /**
   * A stream of the same record, or, where that is larger than {@link Limits#recordBytes}, of one
   * with the same place and time, whose value is an {@link OversizeRecord}. The large one has then
   * been read from {@code in} and dropped, a chunk at a time.
   *
   * @param in decompresses a batch, and stands at the beginning of a record
   */
  public static InputStream of(InputStream in) throws IOException {
    byte[] head = new byte[LONGEST_VARINT];
    int length = 0;
    int size = 0;
    for (int next = 0x80; (next & 0x80) != 0 && length < LONGEST_VARINT; length++) {
      next = in.read();
      if (next < 0) {
        break; // the client says what it thinks of a stream that ends here
      }
      head[length] = (byte) next;
      size |= (next & 0x7F) << (7 * length);
    }
    size = (size >>> 1) ^ -(size & 1);
    Limits limits = Limits.current();
    if (size <= limits.recordBytes()) {
      PollBudget.add(Math.max(size, 0));
      return new Prefixed(head, length, in);
    }
    return new ByteArrayInputStream(standIn(in, size, limits.recordBytes()));
  }

  private static byte[] standIn(InputStream in, int size, int limit) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write(byteOf(in)); // attributes
    copyVarint(in, body); // time
    copyVarint(in, body); // offset
    skip(in, size - body.size());
    byte[] value = new OversizeRecord(size, limit).encode();
    writeVarint(NULL, body); // no key
    writeVarint(value.length, body);
    body.writeBytes(value);
    writeVarint(0, body); // no headers
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    writeVarint(body.size(), record);
    body.writeTo(record);
    return record.toByteArray();
  }

  private static void skip(InputStream in, int bytes) throws IOException {
    byte[] chunk = new byte[Math.min(Math.max(bytes, 0), CHUNK)];
    for (int left = bytes; left > 0; ) {
      int read = in.read(chunk, 0, Math.min(left, chunk.length));
      if (read < 0) {
        throw new EOFException("the batch ends " + left + " bytes before its record");
      }
      left -= read;
    }
  }

  private static void copyVarint(InputStream in, ByteArrayOutputStream out) throws IOException {
    int next;
    do {
      next = byteOf(in);
      out.write(next);
    } while ((next & 0x80) != 0);
  }

  private static void writeVarint(int value, ByteArrayOutputStream out) {
    int rest = (value << 1) ^ (value >> 31);
    while ((rest & ~0x7F) != 0) {
      out.write(rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    out.write(rest);
  }

  private static int byteOf(InputStream in) throws IOException {
    int next = in.read();
    if (next < 0) {
      throw new EOFException("the batch ends within a record");
    }
    return next;
  }

  /** Some bytes, and then a stream, which it does not close. */
  private static final class Prefixed extends InputStream {
    private final byte[] head;
    private final int length;
    private final InputStream in;
    private int position;

    Prefixed(byte[] head, int length, InputStream in) {
      this.head = head;
      this.length = length;
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      return position < length ? head[position++] & 0xFF : in.read();
    }

    @Override
    public int read(byte[] bytes, int from, int count) throws IOException {
      if (position == length) {
        return in.read(bytes, from, count);
      }
      int given = Math.min(count, length - position);
      System.arraycopy(head, position, bytes, from, given);
      position += given;
      return given;
    }
  }
}
