package dev.sluice.otlp;

/**
 * A cursor over the protobuf wire format (https://protobuf.dev/programming-guides/encoding).
 *
 * <p>It reads in place: {@link #enter} enters a length-delimited field and narrows the limit to it,
 * {@link #leave} leaves it. It allocates nothing. Every read checks the limit, so that a wrong
 * length cannot reach outside its parent.
 */
final class WireReader {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int LENGTH_DELIMITED = 2;
  static final int START_GROUP = 3;
  static final int END_GROUP = 4;
  static final int FIXED32 = 5;

  private byte[] bytes;
  private int position;
  private int limit;

  void reset(byte[] message) {
    bytes = message;
    position = 0;
    limit = message.length;
  }

  byte[] bytes() {
    return bytes;
  }

  int position() {
    return position;
  }

  void seek(int newPosition) {
    position = newPosition;
  }

  boolean hasMore() {
    return position < limit;
  }

  /** Reads a tag: field number in the upper bits, wire type in the lower three. */
  int tag() throws MalformedMessageException {
    long tag = varint();
    if (tag < 8 || tag > 0xFFFF_FFFFL) {
      throw new MalformedMessageException("illegal tag " + tag + " before byte " + position);
    }
    return (int) tag;
  }

  long varint() throws MalformedMessageException {
    // Nearly every tag and length is one byte: this much is inlined into callers.
    if (position < limit && bytes[position] >= 0) {
      return bytes[position++];
    }
    return longVarint();
  }

  private long longVarint() throws MalformedMessageException {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (position >= limit) {
        throw truncated(1);
      }
      byte b = bytes[position++];
      value |= (long) (b & 0x7F) << shift;
      if (b >= 0) {
        return value;
      }
    }
    throw new MalformedMessageException("varint longer than 10 bytes before byte " + position);
  }

  long fixed64() throws MalformedMessageException {
    if (limit - position < 8) {
      throw truncated(8);
    }
    long value = Bytes.longAt(bytes, position);
    position += 8;
    return value;
  }

  /** Reads the length of a length-delimited field and checks that its content is complete. */
  int length() throws MalformedMessageException {
    long length = varint();
    if (length < 0 || length > limit - position) {
      throw truncated(length);
    }
    return (int) length;
  }

  /** Enters a length-delimited field; returns the limit for {@link #leave}. */
  int enter() throws MalformedMessageException {
    int length = length();
    int outer = limit;
    limit = position + length;
    return outer;
  }

  void leave(int outer) {
    position = limit;
    limit = outer;
  }

  void advance(int length) {
    position += length;
  }

  void skip(int tag) throws MalformedMessageException {
    switch (tag & 7) {
      case VARINT -> varint();
      case FIXED64 -> skipBytes(8);
      case LENGTH_DELIMITED -> advance(length());
      case FIXED32 -> skipBytes(4);
      default ->
          // Groups were never part of proto3, and no OTLP message has one.
          throw new MalformedMessageException(
              "wire type " + (tag & 7) + " of field " + (tag >>> 3) + " before byte " + position);
    }
  }

  /** Fails unless the field has the wire type that its definition gives it. */
  static void expect(int tag, int wireType) throws MalformedMessageException {
    if ((tag & 7) != wireType) {
      throw new MalformedMessageException(
          "field " + (tag >>> 3) + " has wire type " + (tag & 7) + ", expected " + wireType);
    }
  }

  private void skipBytes(int count) throws MalformedMessageException {
    if (limit - position < count) {
      throw truncated(count);
    }
    position += count;
  }

  private MalformedMessageException truncated(long wanted) {
    return new MalformedMessageException(
        "byte " + position + " wants " + wanted + " more, " + (limit - position) + " are left");
  }
}
