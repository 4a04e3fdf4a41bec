package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The inverse of {@link RecordWriter}; it reads the format before, too, and refuses any other. */
final class RecordReader {
  private final ByteBuffer bytes;
  private final List<String> names = new ArrayList<>();
  private final boolean withCallees;
  private long startNs;
  private long timeMs;

  RecordReader(byte[] written) {
    bytes = ByteBuffer.wrap(written).order(ByteOrder.LITTLE_ENDIAN);
    int format = octet();
    withCallees = format != RecordWriter.WITHOUT_CALLEES;
    if (withCallees && format != RecordWriter.FORMAT) {
      throw new IllegalStateException(
          "read traces: format " + format + ", expected " + RecordWriter.FORMAT);
    }
  }

  boolean hasMore() {
    return bytes.hasRemaining();
  }

  int octet() {
    return bytes.get() & 0xff;
  }

  long fixed() {
    return bytes.getLong();
  }

  TraceId id() {
    long high = fixed();
    return new TraceId(high, fixed());
  }

  long time() {
    timeMs += signed();
    return timeMs;
  }

  long signed() {
    long folded = number();
    return folded >>> 1 ^ -(folded & 1);
  }

  long number() {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      int octet = octet();
      value |= (octet & 0x7fL) << shift;
      if ((octet & 0x80) == 0) {
        return value;
      }
    }
  }

  List<TraceSpan> spans() {
    int count = (int) number();
    List<TraceSpan> spans = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      spans.add(span());
    }
    return spans;
  }

  private TraceSpan span() {
    long spanId = fixed();
    int flags = octet();
    int kind = flags & RecordWriter.KIND;
    boolean sidecar = kind >= RecordWriter.SIDECAR_SERVER;
    int ofSidecar = kind == RecordWriter.SIDECAR_SERVER ? Span.SERVER : Span.CLIENT;
    int place = flags >> RecordWriter.PLACE_SHIFT & RecordWriter.PLACE;
    long parentId = (flags & RecordWriter.CHILD_BIT) == 0 ? 0 : fixed();
    startNs += signed();
    long durationNs = signed();
    long receivedMs = time();
    String service = name();
    String peer = name();
    String operation = name();
    String host = name();
    String instance = name();
    String callee = withCallees && Place.isMovable((byte) place) ? name() : "";
    return new TraceSpan(
        spanId,
        parentId,
        sidecar ? ofSidecar : kind,
        (flags & RecordWriter.ERROR_BIT) != 0,
        (flags & RecordWriter.LINKED_BIT) != 0,
        startNs,
        durationNs,
        service,
        peer,
        callee,
        operation,
        host,
        instance,
        receivedMs,
        (byte) (sidecar ? place | Place.SIDECAR : place));
  }

  private String name() {
    int number = (int) number();
    if (number == names.size()) {
      byte[] text = new byte[(int) number()];
      bytes.get(text);
      names.add(Names.shared(new String(text, StandardCharsets.UTF_8)));
    }
    return names.get(number);
  }
}
