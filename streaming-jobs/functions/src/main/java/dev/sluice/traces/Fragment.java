package dev.sluice.traces;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The spans that one message holds of one trace, as the bytes that are shuffled and kept in state.
 *
 * <p>Layout, big endian: format (byte), received ms (long), number of names (short) and the names,
 * then each span: ids, kind and error (byte), start, duration, service and peer as numbers of
 * names. The format number lets a later version read the state of an earlier one.
 */
public final class Fragment {
  private static final int FORMAT = 1;
  private static final int ERROR_BIT = 0x80;
  private static final int MAX_NAMES = 1 << 16;

  private final ByteArrayOutputStream spans = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(spans);
  private final Map<String, Integer> names = new HashMap<>();
  private final List<String> nameList = new ArrayList<>();
  private int size;

  /** Number of spans. */
  public int size() {
    return size;
  }

  void add(dev.sluice.otlp.Span span) {
    try {
      out.writeLong(span.spanId());
      out.writeLong(span.parentId());
      out.writeByte((span.kind() & 0x7) | (span.isError() ? ERROR_BIT : 0));
      out.writeLong(span.startNs());
      out.writeLong(span.durationNs());
      out.writeShort(name(span.service()));
      out.writeShort(name(span.peer()));
      size++;
    } catch (IOException e) {
      throw new UncheckedIOException("write span to memory", e);
    }
  }

  private int name(String name) {
    Integer number = names.get(name);
    if (number != null) {
      return number;
    }
    if (nameList.size() == MAX_NAMES) {
      // 65,536 names in one trace of one message: not a trace that a graph can be drawn from.
      return 0;
    }
    names.put(name, nameList.size());
    nameList.add(name);
    return nameList.size() - 1;
  }

  public byte[] encode(long receivedMs) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(spans.size() + 64);
    try (DataOutputStream head = new DataOutputStream(bytes)) {
      head.writeByte(FORMAT);
      head.writeLong(receivedMs);
      head.writeShort(nameList.size() - 1);
      for (String name : nameList) {
        head.writeUTF(name);
      }
      spans.writeTo(head);
    } catch (IOException e) {
      throw new UncheckedIOException("write fragment to memory", e);
    }
    return bytes.toByteArray();
  }

  /** Kafka record time of an encoded fragment's message. */
  static long receivedMs(byte[] encoded) {
    return ByteBuffer.wrap(encoded).getLong(1);
  }

  /** The spans of an encoded fragment, in their order. */
  public static List<TraceSpan> decode(byte[] encoded) {
    List<TraceSpan> spans = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(encoded))) {
      int format = in.readByte();
      if (format != FORMAT) {
        throw new IllegalStateException("read fragment: format " + format + ", expected " + FORMAT);
      }
      long receivedMs = in.readLong();
      String[] names = new String[in.readUnsignedShort() + 1];
      for (int i = 0; i < names.length; i++) {
        names[i] = in.readUTF();
      }
      while (in.available() > 0) {
        long spanId = in.readLong();
        long parentId = in.readLong();
        int flags = in.readByte();
        spans.add(
            new TraceSpan(
                spanId,
                parentId,
                flags & 0x7,
                (flags & ERROR_BIT) != 0,
                in.readLong(),
                in.readLong(),
                names[in.readUnsignedShort()],
                names[in.readUnsignedShort()],
                receivedMs));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read fragment from memory", e);
    }
    return spans;
  }
}
