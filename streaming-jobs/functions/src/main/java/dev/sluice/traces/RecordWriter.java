package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Records as bytes, one after the other, for {@link RecordReader}: for checkpoints and for Flink's
 * network. Flink writes a checkpoint's bytes one by one, so their number matters most.
 *
 * <p>Layout: a format (byte), then the records. Numbers are LEB128, zigzag where they have a sign.
 * A record time is the difference from the one before. A name is its number; at the first
 * occurrence, its length and its UTF-8 bytes follow. A span: id (8 bytes, little endian), kind and
 * flags (byte), parent (8 bytes) if it has one, start less that of the span before, duration,
 * record time, and as names service, peer, operation, host and instance, and callee if its peer may
 * change: about 34 bytes. The format number grows with each change of this layout.
 */
final class RecordWriter {
  static final int FORMAT = 2;

  /** Without callees: of a savepoint of an earlier version. */
  static final int WITHOUT_CALLEES = 1;

  static final int KIND = 0x07;

  /** In place of kinds: SERVER and CLIENT, of a sidecar. */
  static final int SIDECAR_SERVER = 6;

  static final int SIDECAR_CLIENT = 7;

  static final int CHILD_BIT = 0x08;

  /** Two bits of {@link Place}. */
  static final int PLACE_SHIFT = 4;

  static final int PLACE = 0x03;
  static final int LINKED_BIT = 0x40;
  static final int ERROR_BIT = 0x80;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Map<String, Integer> names = new HashMap<>();
  private byte[] bytes;
  private int size;
  private long startNs;
  private long timeMs;

  RecordWriter(int capacity) {
    bytes = new byte[capacity];
    octet(FORMAT);
  }

  int size() {
    return size;
  }

  byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  void octet(int value) {
    int at = room(1);
    bytes[at] = (byte) value;
  }

  void fixed(long value) {
    int at = room(Long.BYTES);
    LONG.set(bytes, at, value);
  }

  void id(TraceId id) {
    fixed(id.high());
    fixed(id.low());
  }

  /** Ms of the Unix epoch, as the difference from the time before. */
  void time(long ms) {
    signed(ms - timeMs);
    timeMs = ms;
  }

  /** Any sign: small numbers of either sign are short. */
  void signed(long value) {
    number(value << 1 ^ value >> Long.SIZE - 1);
  }

  /** Not negative: small numbers are short. */
  void number(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      octet((int) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    octet((int) rest);
  }

  void spans(List<TraceSpan> spans) {
    number(spans.size());
    spans.forEach(this::span);
  }

  private void span(TraceSpan span) {
    boolean child = span.parentId() != 0;
    fixed(span.spanId());
    octet(
        kind(span)
            | (child ? CHILD_BIT : 0)
            | (span.place() & PLACE) << PLACE_SHIFT
            | (span.linked() ? LINKED_BIT : 0)
            | (span.error() ? ERROR_BIT : 0));
    if (child) {
      fixed(span.parentId());
    }
    signed(span.startNs() - startNs);
    signed(span.durationNs());
    time(span.receivedMs());
    startNs = span.startNs();
    name(span.service());
    name(span.peer());
    name(span.operation());
    name(span.host());
    name(span.instance());
    if (span.movable()) {
      name(span.callee());
    }
  }

  private static int kind(TraceSpan span) {
    if (!span.isSidecar()) {
      return span.kind() & KIND;
    }
    return span.kind() == Span.SERVER ? SIDECAR_SERVER : SIDECAR_CLIENT;
  }

  private void name(String name) {
    Integer known = names.putIfAbsent(name, names.size());
    if (known != null) {
      number(known);
      return;
    }
    number(names.size() - 1);
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    number(text.length);
    int at = room(text.length);
    System.arraycopy(text, 0, bytes, at, text.length);
  }

  private int room(int more) {
    int at = size;
    size = Math.addExact(size, more);
    if (size > bytes.length) {
      bytes =
          Arrays.copyOf(
              bytes, (int) Math.max(size, Math.min(2L * bytes.length, Integer.MAX_VALUE - 8)));
    }
    return at;
  }
}
