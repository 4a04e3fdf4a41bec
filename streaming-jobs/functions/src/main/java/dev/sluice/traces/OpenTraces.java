package dev.sluice.traces;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Traces that are being collected, in the heap: they live for seconds, so a store on disk would
 * cost more than all else that is done for a span.
 *
 * <p>Time is Kafka's record time. Fragments are brought into the order of the log ({@link
 * LogOrder}) and added to the session of their trace ({@link Session}), which is closed when the
 * watermark has passed its newest fragment by the quiet time, or its oldest by the maximum age. So
 * the log alone decides what a session holds; the watermark decides only when it is closed. What
 * comes after a session was closed starts one anew: nothing is lost, but a call whose two spans the
 * closing parted is not seen. So that such parts are counted, it is known for the late time when an
 * id was closed.
 *
 * <p>Bounded: spans of a trace by number and by age, and all traces by the number of their spans
 * and by the heap that they take ({@link HeapBytes}), since many small ones are mostly their own
 * weight. Beyond that the traces that were due first are closed early; what is read when then plays
 * a part.
 */
public final class OpenTraces {
  /** What closed traces, and spans that none has room for, are given to. */
  public interface Closing {
    /**
     * Takes a trace that was closed.
     *
     * @param late whether its id was closed before, not long ago
     */
    void close(byte[] traceId, Session session, Cause cause, boolean late);

    /** Takes spans that are not kept: a span of their id is there, or the trace is too large. */
    void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess);
  }

  /**
   * How long traces wait, and how much is kept.
   *
   * @param maxHeapBytes of all that is kept: a third of it for closed ids, the rest for traces
   */
  public record Bounds(
      long quietMs, long maxAgeMs, long lateMs, int maxSpans, int maxOpenSpans, long maxHeapBytes) {
    private int closedIds() {
      return (int) Math.min(ClosedIds.MOST, maxHeapBytes / 3 / HeapBytes.CLOSED_ID);
    }

    private long openBytes() {
      return maxHeapBytes - maxHeapBytes / 3;
    }
  }

  /**
   * @param late whether the id was closed not long before the session began
   * @param notBeforeMs it is not closed before: only of a session that was read behind the
   *     watermark, the rest of which is still to be read
   */
  private record Open(TraceId id, Session session, boolean late, long notBeforeMs) {
    private long wakeMs() {
      return Math.max(session.dueMs(), notBeforeMs);
    }
  }

  private static final byte CLOSED_ID = 0;
  private static final byte OPEN_TRACE = 1;
  private static final byte WAITING = 2;

  private final Bounds bounds;
  private final Closing closing;
  private final LogOrder waiting = new LogOrder();
  private final Map<TraceId, Open> open = new HashMap<>();
  private final Agenda<Open> agenda = new Agenda<>();
  private final ClosedIds closed;
  private int spans;
  private long heapBytes;
  private long nowMs = Long.MIN_VALUE;

  public OpenTraces(Bounds bounds, Closing closing) {
    this.bounds = bounds;
    this.closing = closing;
    closed = new ClosedIds(bounds.lateMs(), bounds.closedIds());
  }

  /** Takes a fragment, in whatever order. */
  public void add(TraceFragment fragment) {
    Open trace = open.get(fragment.traceId());
    if (trace != null && trace.session.isFull() && fragment.recordMs() < trace.session.dueMs()) {
      // Whatever is still to be read before it, this belongs to the session, and finds no room.
      trace.session.extend(fragment.recordMs());
      leaveOut(trace.session, fragment.spans());
      return;
    }
    await(fragment);
    boolean found = true;
    while (found && isFull()) {
      found = closeFirst() || takeFirst();
    }
  }

  private void await(TraceFragment fragment) {
    waiting.add(fragment);
    spans += fragment.spans().size();
    heapBytes += HeapBytes.of(fragment);
  }

  private boolean isFull() {
    return spans > bounds.maxOpenSpans() || heapBytes > bounds.openBytes();
  }

  /** Closes what is due now that the record time has come to so many ms of the Unix epoch. */
  public void advance(long toMs) {
    long beforeMs = nowMs;
    nowMs = Math.max(nowMs, Agenda.passed(toMs));
    for (var next = waiting.next(nowMs); next != null; next = waiting.next(nowMs)) {
      for (TraceFragment fragment : next) {
        addToTrace(fragment, beforeMs);
      }
      // Open, a fragment may take more than it did as it waited.
      boolean found = true;
      while (found && isFull()) {
        found = closeFirst();
      }
    }
    for (var due = agenda.due(nowMs); due != null; due = agenda.due(nowMs)) {
      for (Open trace : due) {
        if (!isCurrent(trace)) {
          continue;
        }
        if (trace.wakeMs() <= nowMs) {
          close(trace);
        } else {
          agenda.enter(trace, trace.wakeMs());
        }
      }
    }
    closed.forget(nowMs);
  }

  /** Spans of traces that are open. */
  public int spans() {
    return spans;
  }

  /** Bytes of heap that open traces and what waits take, by {@link HeapBytes}. */
  long heapBytes() {
    return heapBytes;
  }

  /**
   * @param fragment the next in the order of the log
   * @param readMs how far the record time had come, at most, when it was read
   */
  private void addToTrace(TraceFragment fragment, long readMs) {
    TraceId id = fragment.traceId();
    Open trace = open.get(id);
    long recordMs = fragment.recordMs();
    if (trace != null && recordMs >= trace.session.dueMs()) {
      close(trace);
      trace = null;
    }
    if (trace == null) {
      // Behind the watermark only without clock records, or in a partition that is new.
      long notBeforeMs = recordMs < readMs ? readMs + bounds.quietMs() : Long.MIN_VALUE;
      boolean late = isLate(id, recordMs);
      trace = new Open(id, new Session(bounds, recordMs), late, notBeforeMs);
      enter(trace);
    }
    Session session = trace.session;
    heapBytes -= HeapBytes.of(fragment) + session.heapBytes();
    boolean kept = session.add(recordMs, fragment.spans());
    heapBytes += session.heapBytes();
    if (!kept) {
      spans -= fragment.spans().size();
      leaveOut(session, fragment.spans());
    }
  }

  private void enter(Open trace) {
    open.put(trace.id, trace);
    heapBytes += trace.session.heapBytes();
    agenda.enter(trace, trace.wakeMs());
  }

  private boolean isLate(TraceId id, long firstMs) {
    long closedMs = closed.of(id);
    return closedMs != ClosedIds.NEVER && firstMs < closedMs + bounds.lateMs();
  }

  private void leaveOut(Session session, List<TraceSpan> fragment) {
    List<TraceSpan> duplicates = new ArrayList<>();
    List<TraceSpan> excess = new ArrayList<>();
    for (TraceSpan span : fragment) {
      (session.has(span.spanId()) ? duplicates : excess).add(span);
    }
    closing.leaveOut(duplicates, excess);
  }

  /** What stands on the agenda may have been closed since. */
  private boolean isCurrent(Open trace) {
    return open.get(trace.id) == trace;
  }

  private void close(Open trace) {
    close(trace, trace.session.atMaxAge() ? Cause.MAX_AGE : Cause.QUIET);
  }

  private void close(Open trace, Cause cause) {
    open.remove(trace.id);
    spans -= trace.session.spans().size();
    heapBytes -= trace.session.heapBytes();
    closed.add(trace.id, trace.session.dueMs(), nowMs);
    closing.close(trace.id.toBytes(), trace.session, cause, trace.late);
  }

  /**
   * For want of room: those that are due first, a slot of the agenda at once.
   *
   * @return whether there was any
   */
  private boolean closeFirst() {
    List<Open> first = agenda.first();
    if (first == null) {
      return false;
    }
    for (Open trace : first) {
      if (isCurrent(trace)) {
        close(trace, Cause.EARLY);
      }
    }
    return true;
  }

  /** When nothing is open: what waits is taken as if all before it had been read. */
  private boolean takeFirst() {
    List<TraceFragment> first = waiting.first();
    if (first == null) {
      return false;
    }
    first.forEach(fragment -> addToTrace(fragment, nowMs));
    return true;
  }

  /** Everything that is known, for {@link #restore}: a format, then what it says. */
  public List<byte[]> snapshot() {
    Chunks chunks = new Chunks();
    try {
      for (Open trace : open.values()) {
        write(trace, chunks.next());
      }
      for (Iterator<TraceFragment> each = waiting.all().iterator(); each.hasNext(); ) {
        write(each.next(), chunks.next());
      }
      for (Map.Entry<TraceId, Long> each : closed.all()) {
        DataOutput out = chunks.next();
        out.writeByte(CLOSED_ID);
        writeId(each.getKey(), out);
        out.writeLong(each.getValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("write open traces to memory", e);
    }
    return chunks.all();
  }

  private static void write(Open trace, DataOutput out) throws IOException {
    Session session = trace.session;
    out.writeByte(OPEN_TRACE);
    writeId(trace.id, out);
    out.writeLong(session.firstMs());
    out.writeLong(session.lastMs());
    out.writeBoolean(trace.late);
    out.writeLong(trace.notBeforeMs);
    write(session.spans(), out);
  }

  private static void write(TraceFragment fragment, DataOutput out) throws IOException {
    out.writeByte(WAITING);
    writeId(fragment.traceId(), out);
    out.writeLong(fragment.recordMs());
    out.writeInt(fragment.partition());
    out.writeLong(fragment.offset());
    write(fragment.spans(), out);
  }

  private static void write(List<TraceSpan> spans, DataOutput out) throws IOException {
    byte[] encoded = SpanBytes.encode(spans);
    out.writeInt(encoded.length);
    out.write(encoded);
  }

  private static void writeId(TraceId id, DataOutput out) throws IOException {
    out.writeLong(id.high());
    out.writeLong(id.low());
  }

  /**
   * Takes a part of a snapshot back.
   *
   * @param mine whether a trace id is this task's: the parallelism may have changed
   */
  public void restore(byte[] chunk, Predicate<byte[]> mine) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(chunk))) {
      while (in.available() > 0) {
        byte what = in.readByte();
        TraceId id = new TraceId(in.readLong(), in.readLong());
        boolean wanted = mine.test(id.toBytes());
        switch (what) {
          case CLOSED_ID -> {
            long closedMs = in.readLong();
            if (wanted) {
              closed.add(id, closedMs, ClosedIds.NEVER);
            }
          }
          case OPEN_TRACE -> {
            Open trace = readTrace(id, in);
            if (wanted) {
              spans += trace.session.spans().size();
              enter(trace);
            }
          }
          case WAITING -> {
            TraceFragment fragment = readFragment(id, in);
            if (wanted) {
              await(fragment);
            }
          }
          default -> throw new IllegalStateException("restore open traces: unknown record " + what);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read open traces from memory", e);
    }
  }

  private Open readTrace(TraceId id, DataInputStream in) throws IOException {
    Session session = new Session(bounds, in.readLong(), in.readLong());
    boolean late = in.readBoolean();
    long notBeforeMs = in.readLong();
    session.keep(readSpans(in));
    return new Open(id, session, late, notBeforeMs);
  }

  private static TraceFragment readFragment(TraceId id, DataInputStream in) throws IOException {
    return new TraceFragment(id, in.readLong(), in.readInt(), in.readLong(), readSpans(in));
  }

  private static List<TraceSpan> readSpans(DataInputStream in) throws IOException {
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return SpanBytes.decode(bytes);
  }
}
