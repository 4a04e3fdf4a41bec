package dev.sluice.traces;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Traces that are being collected, in the heap: they live for seconds, so a store on disk would
 * cost more than all other work for a span.
 *
 * <p>Time is Kafka's record time. Fragments are brought into the order of the log ({@link
 * LogOrder}) and added to the session of their trace ({@link Session}), which is closed when the
 * watermark has passed its newest fragment by the quiet time, or its oldest by the maximum age. So
 * the log alone decides which spans a session has; the watermark decides only when it is closed. A
 * fragment that comes after its session was closed starts another session. No span is lost, but a
 * call whose two spans are in different sessions is not seen. To count such parts, closed ids are
 * kept for the late time.
 *
 * <p>A broker's clock may be set back, and the watermark cannot: it stands until the record time
 * has come as far again, an hour after a step of an hour. Fragments behind it by more than the
 * quiet time show that, and then time that elapses on this machine moves the record time on ({@link
 * #elapse}).
 *
 * <p>Bounded: spans of a trace by number and by age, and all traces by the number of their spans
 * and by the heap that they take ({@link HeapBytes}), since the overhead of many small traces
 * outweighs their spans. Beyond that the traces that are due first are closed early; then the order
 * of reading matters, too.
 *
 * <p>What an open trace shows already can be counted before it is closed: of each trace of which
 * nothing came for a while there is a preview, and another when more of it came.
 */
public final class OpenTraces {
  /** Receives closed traces, and spans for which there is no room. */
  public interface Closing {
    /**
     * Takes a trace that was closed. What a preview of it counted was taken back.
     *
     * @param late whether its id was closed before, not long ago
     */
    void close(byte[] traceId, Session session, Trace trace, Cause cause, boolean late);

    /**
     * Counts what there is of an open trace.
     *
     * @param times 1, or -1 to take back what an earlier preview counted
     */
    void preview(Trace trace, int times);

    /**
     * Takes spans that are not kept: their trace already has a span of their id, or is too large.
     */
    void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess);
  }

  /**
   * How long traces wait, and how much is kept.
   *
   * @param previewMs record time without a span after which there is a preview of a trace; 0: never
   * @param maxHeapBytes of everything that is kept: a third of it for closed ids, the rest for
   *     traces
   */
  public record Bounds(
      long quietMs,
      long previewMs,
      long maxAgeMs,
      long lateMs,
      int maxSpans,
      int maxOpenSpans,
      long maxHeapBytes) {
    private int closedIds() {
      return (int) Math.min(ClosedIds.MOST, maxHeapBytes / 3 / HeapBytes.CLOSED_ID);
    }

    private long openBytes() {
      return maxHeapBytes - maxHeapBytes / 3;
    }
  }

  private static final class Open {
    final TraceId id;
    final Session session;
    // Whether the id was closed not long before the session began.
    final boolean late;
    // The earliest time of closing, where fragments were read behind the watermark: the rest of
    // them is still to be read.
    long notBeforeMs;
    // Whether it is among those of which there is to be a preview.
    boolean awaitsPreview;

    Open(TraceId id, Session session, boolean late, long notBeforeMs) {
      this.id = id;
      this.session = session;
      this.late = late;
      this.notBeforeMs = notBeforeMs;
    }

    long wakeMs() {
      return Math.max(session.dueMs(), notBeforeMs);
    }

    long previewMs(Bounds bounds) {
      return session.lastMs() + bounds.previewMs();
    }
  }

  private static final int CLOSED_ID = 0;
  private static final int OPEN_TRACE = 1;
  private static final int WAITING = 2;

  // Bits of an open trace. Snapshots of before there were previews have no number of their spans.
  private static final int LATE = 1;
  private static final int PREVIEWED = 2;

  private final Bounds bounds;
  private final Closing closing;
  private final LogOrder waiting = new LogOrder();
  private final Map<TraceId, Open> open = new HashMap<>();
  private final Agenda<Open> agenda = new Agenda<>();
  private final Agenda<Open> previews = new Agenda<>();
  private final ClosedIds closed;
  private int spans;
  // Sessions that take no further span.
  private int full;
  private long heapBytes;
  private long nowMs = Long.MIN_VALUE;
  // Whether the newest fragment shows that the log's clock was set back.
  private boolean setBack;
  // Not a whole slot of the agenda yet.
  private long elapsedMs;

  public OpenTraces(Bounds bounds, Closing closing) {
    this.bounds = bounds;
    this.closing = closing;
    closed = new ClosedIds(bounds.lateMs(), bounds.closedIds());
  }

  /** Takes a fragment, in any order. */
  public void add(TraceFragment fragment) {
    setBack = fragment.recordMs() + bounds.quietMs() < nowMs;
    Open trace = full == 0 ? null : open.get(fragment.traceId());
    if (trace != null && trace.session.isFull() && fragment.recordMs() < trace.session.dueMs()) {
      // Whatever is still to be read before it, this fragment belongs to the session, and finds no
      // room.
      trace.session.extend(fragment.recordMs());
      leaveOut(trace.session, fragment.spans());
      return;
    }
    await(fragment);
    boolean progress = true;
    while (progress && isFull()) {
      progress = closeFirst() || takeFirst();
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

  /**
   * Closes the traces that are due now that the record time has reached this time, in ms of the
   * Unix epoch.
   */
  public void advance(long toMs) {
    long beforeMs = nowMs;
    nowMs = Math.max(nowMs, Agenda.passed(toMs));
    for (var next = waiting.next(nowMs); next != null; next = waiting.next(nowMs)) {
      for (TraceFragment fragment : next) {
        addToTrace(fragment, beforeMs);
      }
      // In an open trace a fragment may take more heap than it did while it waited.
      boolean progress = true;
      while (progress && isFull()) {
        progress = closeFirst();
      }
    }
    for (var due = agenda.due(nowMs); due != null; due = agenda.due(nowMs)) {
      for (Open trace : due) {
        if (trace.session.hasEnded()) { // for want of room, or by the fragment after it
          continue;
        }
        if (trace.wakeMs() <= nowMs) {
          close(trace);
        } else {
          agenda.enter(trace, trace.wakeMs());
        }
      }
    }
    for (var quiet = previews.due(nowMs); quiet != null; quiet = previews.due(nowMs)) {
      quiet.forEach(this::preview);
    }
    closed.forget(nowMs);
  }

  private void preview(Open trace) {
    trace.awaitsPreview = false;
    if (trace.session.hasEnded()) {
      return;
    }
    if (trace.previewMs(bounds) > nowMs) {
      awaitPreview(trace);
      return;
    }
    closing.preview(assemble(trace.session), 1);
    trace.session.markPreview();
  }

  /** Assembles the trace as it is, and takes the preview before back. */
  private Trace assemble(Session session) {
    Trace trace = Trace.assemble(session.spans(), bounds.maxSpans());
    Trace before = session.atPreview(trace);
    if (before != null) {
      closing.preview(before, -1);
    }
    return trace;
  }

  private void awaitPreview(Open trace) {
    if (bounds.previewMs() > 0 && !trace.awaitsPreview && trace.session.hasNewSpans()) {
      trace.awaitsPreview = true;
      previews.enter(trace, trace.previewMs(bounds));
    }
  }

  /**
   * Says that so much time passed on this machine. It closes traces where the log's clock was set
   * back, and nothing else.
   */
  public void elapse(long ms) {
    if (setBack) {
      long beforeMs = nowMs;
      elapsedMs += ms;
      advance(beforeMs + elapsedMs);
      elapsedMs -= nowMs - beforeMs;
    }
  }

  /** Spans of traces that are open. */
  public int spans() {
    return spans;
  }

  /** Bytes of heap that open traces and waiting fragments take, by {@link HeapBytes}. */
  long heapBytes() {
    return heapBytes;
  }

  /**
   * @param fragment the next in the order of the log
   * @param readMs the record time, at most, when it was read
   */
  private void addToTrace(TraceFragment fragment, long readMs) {
    TraceId id = fragment.traceId();
    Open trace = open.get(id);
    long recordMs = fragment.recordMs();
    if (trace != null && !trace.session.takes(recordMs)) {
      close(trace);
      trace = null;
    }
    // Behind the watermark only without clock records, in a new partition, or set back.
    long notBeforeMs = recordMs < readMs ? readMs + bounds.quietMs() : Long.MIN_VALUE;
    if (trace == null) {
      boolean late = isLate(id, recordMs);
      trace = new Open(id, new Session(bounds, recordMs), late, notBeforeMs);
      enter(trace);
    } else {
      trace.notBeforeMs = Math.max(trace.notBeforeMs, notBeforeMs);
    }
    Session session = trace.session;
    boolean wasFull = session.isFull();
    heapBytes -= HeapBytes.of(fragment) + session.heapBytes();
    boolean kept = session.add(recordMs, fragment.spans());
    heapBytes += session.heapBytes();
    if (session.isFull() && !wasFull) {
      full++;
    }
    awaitPreview(trace);
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
      (session.has(span) ? duplicates : excess).add(span);
    }
    closing.leaveOut(duplicates, excess);
  }

  private void close(Open trace) {
    close(trace, trace.session.atMaxAge() ? Cause.MAX_AGE : Cause.QUIET);
  }

  private void close(Open trace, Cause cause) {
    open.remove(trace.id);
    trace.session.end();
    if (trace.session.isFull()) {
      full--;
    }
    spans -= trace.session.spans().size();
    heapBytes -= trace.session.heapBytes();
    closed.add(trace.id, trace.session.dueMs(), nowMs);
    closing.close(trace.id.toBytes(), trace.session, assemble(trace.session), cause, trace.late);
  }

  /**
   * For want of room, closes the traces that are due first, a slot of the agenda at once.
   *
   * @return whether there was any
   */
  private boolean closeFirst() {
    List<Open> first = agenda.first();
    if (first == null) {
      return false;
    }
    for (Open trace : first) {
      if (!trace.session.hasEnded()) {
        close(trace, Cause.EARLY);
      }
    }
    return true;
  }

  /**
   * When no trace is open, takes the waiting fragments as if all records before them had been read.
   */
  private boolean takeFirst() {
    List<TraceFragment> first = waiting.first();
    if (first == null) {
      return false;
    }
    first.forEach(fragment -> addToTrace(fragment, nowMs));
    return true;
  }

  /** The whole state, for {@link #restore}. */
  public List<byte[]> snapshot() {
    Chunks chunks = new Chunks();
    for (Open trace : open.values()) {
      write(trace, chunks.next());
    }
    waiting.all().forEach(fragment -> write(fragment, chunks.next()));
    closed.forEach(
        (id, closedMs) -> {
          RecordWriter out = chunks.next();
          out.octet(CLOSED_ID);
          out.id(id);
          out.time(closedMs);
        });
    return chunks.all();
  }

  private static void write(Open trace, RecordWriter out) {
    Session session = trace.session;
    out.octet(OPEN_TRACE);
    out.id(trace.id);
    out.time(session.firstMs());
    out.number(session.lastMs() - session.firstMs());
    out.octet((trace.late ? LATE : 0) | PREVIEWED);
    out.signed(trace.notBeforeMs);
    out.number(session.previewSpans());
    out.spans(session.spans());
  }

  private static void write(TraceFragment fragment, RecordWriter out) {
    out.octet(WAITING);
    out.id(fragment.traceId());
    out.time(fragment.recordMs());
    out.number(fragment.partition());
    out.number(fragment.offset());
    out.spans(fragment.spans());
  }

  /**
   * Restores a part of a snapshot.
   *
   * @param mine whether a trace id belongs to this task: the parallelism may have changed
   */
  public void restore(byte[] chunk, Predicate<byte[]> mine) {
    RecordReader in = new RecordReader(chunk);
    while (in.hasMore()) {
      int what = in.octet();
      TraceId id = in.id();
      boolean wanted = mine.test(id.toBytes());
      switch (what) {
        case CLOSED_ID -> {
          long closedMs = in.time();
          if (wanted) {
            closed.add(id, closedMs, ClosedIds.NEVER);
          }
        }
        case OPEN_TRACE -> {
          Open trace = readTrace(id, in);
          if (wanted) {
            spans += trace.session.spans().size();
            enter(trace);
            awaitPreview(trace);
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
  }

  private Open readTrace(TraceId id, RecordReader in) {
    long firstMs = in.time();
    Session session = new Session(bounds, firstMs, firstMs + in.number());
    int bits = in.octet();
    long notBeforeMs = in.signed();
    int previewSpans = (bits & PREVIEWED) == 0 ? 0 : (int) in.number();
    session.keep(in.spans(), previewSpans);
    return new Open(id, session, (bits & LATE) != 0, notBeforeMs);
  }

  private static TraceFragment readFragment(TraceId id, RecordReader in) {
    long recordMs = in.time();
    int partition = (int) in.number();
    long offset = in.number();
    return new TraceFragment(id, recordMs, partition, offset, in.spans());
  }
}
