package dev.sluice.traces;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Traces that are being collected, in the heap: they live for seconds, so a store on disk would
 * cost more than all else that is done for a span.
 *
 * <p>Time is Kafka's record time: a trace is closed when the watermark has passed its newest
 * fragment by the quiet time, or its oldest by the maximum age. The watermark decides only when;
 * which fragments belong together is told by their record times ({@link Session}). A fragment that
 * comes after its trace was closed starts it anew: nothing is lost, but a call whose two spans the
 * closing parted is not seen. So that such parts are counted, it is known for the late time when an
 * id was closed.
 *
 * <p>Bounded: spans of a trace by number and by age, and those of all traces by number. Beyond that
 * the traces that were due first are closed early.
 */
public final class OpenTraces {
  /** What closed traces are given to. */
  @FunctionalInterface
  public interface Closing {
    /**
     * Takes a trace that was closed.
     *
     * @param late whether its id was closed before, not long ago
     */
    void close(byte[] traceId, Session session, Cause cause, boolean late);
  }

  /** How long traces wait, and how many spans are kept. */
  public record Bounds(long quietMs, long maxAgeMs, long lateMs, int maxSpans, int maxOpenSpans) {}

  private static final class Open {
    private final TraceId id;
    private final List<byte[]> fragments = new ArrayList<>(4);
    private int spans;
    private long wakeMs;
    // When the id was closed last, as far as that was known when the first fragment came.
    private final long closedMs;

    private Open(TraceId id, long closedMs) {
      this.id = id;
      this.closedMs = closedMs;
    }
  }

  private static final byte CLOSED_ID = 0;
  private static final byte OPEN_TRACE = 1;

  private final Bounds bounds;
  private final Closing closing;
  private final Map<TraceId, Open> open = new HashMap<>();
  private final Agenda<Open> agenda = new Agenda<>();
  private final ClosedIds closed;
  private int spans;
  private long nowMs = Long.MIN_VALUE;

  public OpenTraces(Bounds bounds, Closing closing) {
    this.bounds = bounds;
    this.closing = closing;
    closed = new ClosedIds(bounds.lateMs());
  }

  /**
   * Keeps a fragment, unless its trace has as many spans as are kept.
   *
   * @param fragment an encoded {@link Fragment}
   * @param size its spans
   * @return whether it was kept
   */
  public boolean add(byte[] traceId, byte[] fragment, int size) {
    TraceId id = TraceId.of(traceId);
    Open trace = open.get(id);
    if (trace == null) {
      trace = new Open(id, closed.of(id));
      open.put(id, trace);
      // Behind the watermark, the watermark. That is so when a topic is caught up with whose
      // partitions were taken for idle, after a restart: the rest of the trace is still to be read,
      // and sessions are told apart by record time, however late.
      wake(trace, Math.max(Fragment.receivedMs(fragment), nowMs) + bounds.quietMs());
    } else if (trace.spans >= bounds.maxSpans()) {
      return false;
    }
    trace.fragments.add(fragment);
    trace.spans += size;
    spans += size;
    while (spans > bounds.maxOpenSpans()) {
      closeFirst();
    }
    return true;
  }

  /** Closes what is due now that the record time has come to so many ms of the Unix epoch. */
  public void advance(long toMs) {
    nowMs = Math.max(nowMs, toMs);
    for (List<Open> due = agenda.due(nowMs); due != null; due = agenda.due(nowMs)) {
      for (Open trace : due) {
        if (isCurrent(trace)) {
          closeDue(trace);
        }
      }
    }
    closed.forget(nowMs);
  }

  /** Spans of traces that are open. */
  public int spans() {
    return spans;
  }

  private void wake(Open trace, long atMs) {
    trace.wakeMs = atMs;
    agenda.enter(trace, atMs);
  }

  /** What stands on the agenda may have been closed since. */
  private boolean isCurrent(Open trace) {
    return open.get(trace.id) == trace;
  }

  private void closeDue(Open trace) {
    forget(trace);
    long closedMs = trace.closedMs;
    Open rest = null;
    for (Session session : Session.split(trace.fragments, bounds.quietMs(), bounds.maxAgeMs())) {
      if (session.dueMs() <= nowMs) {
        Cause cause = session.atMaxAge() ? Cause.MAX_AGE : Cause.QUIET;
        closedMs = Math.max(closedMs, close(trace.id, session, cause, closedMs));
      } else {
        if (rest == null) {
          rest = new Open(trace.id, closedMs);
          open.put(trace.id, rest);
          wake(rest, session.dueMs());
        }
        keep(rest, session);
      }
    }
  }

  private void keep(Open trace, Session session) {
    for (byte[] fragment : session.fragments()) {
      int size = Fragment.decode(fragment).size();
      trace.fragments.add(fragment);
      trace.spans += size;
      spans += size;
    }
  }

  /** For want of room: those that are due first, a slot of the agenda at once. */
  private void closeFirst() {
    for (Open trace : agenda.first()) {
      if (isCurrent(trace)) {
        forget(trace);
        long closedMs = trace.closedMs;
        for (Session session :
            Session.split(trace.fragments, bounds.quietMs(), bounds.maxAgeMs())) {
          closedMs = Math.max(closedMs, close(trace.id, session, Cause.EARLY, closedMs));
        }
      }
    }
  }

  private void forget(Open trace) {
    open.remove(trace.id);
    spans -= trace.spans;
  }

  private long close(TraceId id, Session session, Cause cause, long closedMs) {
    boolean late = closedMs != ClosedIds.NEVER && session.firstMs() < closedMs + bounds.lateMs();
    closed.add(id, session.dueMs(), nowMs);
    closing.close(id.toBytes(), session, cause, late);
    return session.dueMs();
  }

  /** Everything that is known, for {@link #restore}: a format, then traces and closed ids. */
  public List<byte[]> snapshot() {
    Chunks chunks = new Chunks();
    try {
      for (Open trace : open.values()) {
        write(trace, chunks.next());
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
    out.writeByte(OPEN_TRACE);
    writeId(trace.id, out);
    out.writeLong(trace.closedMs);
    out.writeLong(trace.wakeMs);
    out.writeInt(trace.spans);
    out.writeInt(trace.fragments.size());
    for (byte[] fragment : trace.fragments) {
      out.writeInt(fragment.length);
      out.write(fragment);
    }
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
            Open trace = read(id, in);
            if (wanted) {
              open.put(id, trace);
              spans += trace.spans;
              agenda.enter(trace, trace.wakeMs);
            }
          }
          default -> throw new IllegalStateException("restore open traces: unknown record " + what);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read open traces from memory", e);
    }
  }

  private static Open read(TraceId id, DataInputStream in) throws IOException {
    Open trace = new Open(id, in.readLong());
    trace.wakeMs = in.readLong();
    trace.spans = in.readInt();
    int fragments = in.readInt();
    for (int i = 0; i < fragments; i++) {
      byte[] fragment = new byte[in.readInt()];
      in.readFully(fragment);
      trace.fragments.add(fragment);
    }
    return trace;
  }
}
