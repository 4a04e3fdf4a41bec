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
 * <p>Layout, big endian: format (byte), received ms (long), whether peers are settled (boolean),
 * number of names (short) and the names, then each span: ids, kind and flags (byte), start,
 * duration, and as numbers of names service, peer, operation, host and instance. The first name is
 * "". 65,536 names fit: a fragment that has as many {@link #isFull is full}. The format number lets
 * a later version read the state of an earlier one; formats 1 to 3 were never released.
 */
public final class Fragment {
  private static final int FORMAT = 4;
  private static final int ERROR_BIT = 0x80;
  private static final int LINKED_BIT = 0x40;
  private static final int MOVABLE_BIT = 0x20;
  private static final int MAX_NAMES = 1 << 16;
  private static final int NAMES_OF_A_SPAN = 5;

  private final ByteArrayOutputStream spans = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(spans);
  private final Map<String, Integer> names = new HashMap<>();
  private final List<String> nameList = new ArrayList<>();
  private int size;
  private boolean settled;

  Fragment() {
    name("");
  }

  /** Number of spans. */
  public int size() {
    return size;
  }

  /** Whether the names of another span may not fit: it needs a fragment of its own. */
  boolean isFull() {
    return nameList.size() > MAX_NAMES - NAMES_OF_A_SPAN;
  }

  /** Says that none of the spans is movable: what the windows hold of them cannot be told. */
  void settle() {
    settled = true;
  }

  void add(dev.sluice.otlp.Span span) {
    boolean movable = span.isClientSide() && !span.isPeerNamed() && !span.isShortened();
    try {
      out.writeLong(span.spanId());
      out.writeLong(span.parentId());
      out.writeByte(
          (span.kind() & 0x7)
              | (span.isError() ? ERROR_BIT : 0)
              | (span.isLinked() ? LINKED_BIT : 0)
              | (movable ? MOVABLE_BIT : 0));
      out.writeLong(span.startNs());
      out.writeLong(span.durationNs());
      out.writeShort(name(span.service()));
      out.writeShort(name(span.peer()));
      out.writeShort(name(span.operation()));
      out.writeShort(name(span.host()));
      out.writeShort(name(span.instance()));
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
    names.put(name, nameList.size());
    nameList.add(name);
    return nameList.size() - 1;
  }

  public byte[] encode(long receivedMs) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(spans.size() + 64);
    try (DataOutputStream head = new DataOutputStream(bytes)) {
      head.writeByte(FORMAT);
      head.writeLong(receivedMs);
      head.writeBoolean(settled);
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
      boolean settled = in.readBoolean();
      String[] names = new String[in.readUnsignedShort() + 1];
      for (int i = 0; i < names.length; i++) {
        names[i] = in.readUTF();
      }
      while (in.available() > 0) {
        long spanId = in.readLong();
        long parentId = in.readLong();
        int flags = in.readByte();
        long startNs = in.readLong();
        long durationNs = in.readLong();
        spans.add(
            new TraceSpan(
                spanId,
                parentId,
                flags & 0x7,
                (flags & ERROR_BIT) != 0,
                (flags & LINKED_BIT) != 0,
                startNs,
                durationNs,
                names[in.readUnsignedShort()],
                names[in.readUnsignedShort()],
                names[in.readUnsignedShort()],
                names[in.readUnsignedShort()],
                names[in.readUnsignedShort()],
                receivedMs,
                !settled && (flags & MOVABLE_BIT) != 0));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read fragment from memory", e);
    }
    return spans;
  }
}
