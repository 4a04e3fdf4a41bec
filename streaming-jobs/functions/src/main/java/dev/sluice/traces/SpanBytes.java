package dev.sluice.traces;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Spans as bytes, for checkpoints and for Flink's network: between operators of one task they go as
 * they are.
 *
 * <p>Layout, big endian: format (byte), ms of the Unix epoch from which record times count (long),
 * number of names (int) and the names, then each span: ids, kind and flags (byte), start, duration,
 * ms of its record time (int), and as numbers of names service, peer, operation, host and instance.
 * Such a number is a short as long as 65,536 names are enough, else an int. The format number lets
 * a later version read the state of an earlier one; formats 1 to 4 were never released.
 */
public final class SpanBytes {
  private static final int FORMAT = 5;
  private static final int ERROR_BIT = 0x80;
  private static final int LINKED_BIT = 0x40;
  private static final int MOVABLE_BIT = 0x20;
  private static final int SHORT_NAMES = 1 << 16;

  private SpanBytes() {}

  /** The inverse of {@link #decode}. Record times are at most 24 days apart. */
  public static byte[] encode(List<TraceSpan> spans) {
    Map<String, Integer> numbers = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (TraceSpan span : spans) {
      for (String name : names(span)) {
        if (numbers.putIfAbsent(name, names.size()) == null) {
          names.add(name);
        }
      }
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64 + 64 * spans.size());
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      long fromMs = spans.isEmpty() ? 0 : spans.get(0).receivedMs();
      out.writeByte(FORMAT);
      out.writeLong(fromMs);
      out.writeInt(names.size());
      for (String name : names) {
        out.writeUTF(name);
      }
      for (TraceSpan span : spans) {
        out.writeLong(span.spanId());
        out.writeLong(span.parentId());
        out.writeByte(
            (span.kind() & 0x7)
                | (span.error() ? ERROR_BIT : 0)
                | (span.linked() ? LINKED_BIT : 0)
                | (span.movable() ? MOVABLE_BIT : 0));
        out.writeLong(span.startNs());
        out.writeLong(span.durationNs());
        out.writeInt(Math.toIntExact(span.receivedMs() - fromMs));
        for (String name : names(span)) {
          int number = numbers.get(name);
          if (names.size() > SHORT_NAMES) {
            out.writeInt(number);
          } else {
            out.writeShort(number);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("write spans to memory", e);
    }
    return bytes.toByteArray();
  }

  private static String[] names(TraceSpan span) {
    return new String[] {
      span.service(), span.peer(), span.operation(), span.host(), span.instance()
    };
  }

  /** The spans, in their order. */
  public static List<TraceSpan> decode(byte[] encoded) {
    List<TraceSpan> spans = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(encoded))) {
      int format = in.readByte();
      if (format != FORMAT) {
        throw new IllegalStateException("read spans: format " + format + ", expected " + FORMAT);
      }
      long fromMs = in.readLong();
      String[] names = new String[in.readInt()];
      for (int i = 0; i < names.length; i++) {
        names[i] = Names.shared(in.readUTF());
      }
      while (in.available() > 0) {
        long spanId = in.readLong();
        long parentId = in.readLong();
        int flags = in.readByte();
        long startNs = in.readLong();
        long durationNs = in.readLong();
        long receivedMs = fromMs + in.readInt();
        spans.add(
            new TraceSpan(
                spanId,
                parentId,
                flags & 0x7,
                (flags & ERROR_BIT) != 0,
                (flags & LINKED_BIT) != 0,
                startNs,
                durationNs,
                name(names, in),
                name(names, in),
                name(names, in),
                name(names, in),
                name(names, in),
                receivedMs,
                (flags & MOVABLE_BIT) != 0));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read spans from memory", e);
    }
    return spans;
  }

  private static String name(String[] names, DataInputStream in) throws IOException {
    return names[names.length > SHORT_NAMES ? in.readInt() : in.readUnsignedShort()];
  }
}
