package dev.sluice.traces;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Fragments of one trace id that belong together: each came within the quiet time after the one
 * before it, and within the maximum age after the first (both exclusive).
 *
 * <p>The order of the log alone decides it: reading a topic again gives the same sessions, and a
 * trace id that comes again (a recording that is replayed twice) starts another session. A session
 * keeps a bounded number of spans of different ids, the first. Later fragments still extend it.
 */
public final class Session {
  private final OpenTraces.Bounds bounds;
  private final long firstMs;
  private final List<TraceSpan> spans = new ArrayList<>(8);
  private long lastMs;
  private long heapBytes = HeapBytes.TRACE;
  private boolean ended;
  private int previewSpans;
  // Keys (SharedIds) of the spans that are kept; null while there is room for all, repeated or not.
  private Set<Long> ids;

  /**
   * @param firstMs record time of the first fragment
   */
  Session(OpenTraces.Bounds bounds, long firstMs) {
    this(bounds, firstMs, firstMs);
  }

  Session(OpenTraces.Bounds bounds, long firstMs, long lastMs) {
    this.bounds = bounds;
    this.firstMs = firstMs;
    this.lastMs = lastMs;
  }

  /** Spans that are kept, with repeated ones, in the order of the log. */
  public List<TraceSpan> spans() {
    return spans;
  }

  /** Record time of the first fragment. */
  public long firstMs() {
    return firstMs;
  }

  /** How many spans, the first, there were at the last preview; 0 before any. */
  int previewSpans() {
    return previewSpans;
  }

  /**
   * The trace as it was at the last preview; null before any.
   *
   * @param trace of all spans
   */
  Trace atPreview(Trace trace) {
    if (previewSpans == 0) {
      return null;
    }
    return hasNewSpans()
        ? Trace.assemble(spans.subList(0, previewSpans), bounds.maxSpans())
        : trace;
  }

  /** Whether spans came after the last preview. */
  boolean hasNewSpans() {
    return spans.size() > previewSpans;
  }

  /** There was a preview of all spans. */
  void markPreview() {
    previewSpans = spans.size();
  }

  /** Record time of the last fragment so far. */
  long lastMs() {
    return lastMs;
  }

  /** Its heap bytes, by {@link HeapBytes}. */
  long heapBytes() {
    return heapBytes;
  }

  /** Record time from which it can be closed: nothing later belongs to it. It only grows. */
  public long dueMs() {
    return Math.min(lastMs + bounds.quietMs(), firstMs + bounds.maxAgeMs());
  }

  /**
   * Whether a fragment of this time belongs to it. Earlier by more than the quiet time is one that
   * came after the log's clock was set back.
   */
  boolean takes(long recordMs) {
    return recordMs < dueMs() && recordMs + bounds.quietMs() > firstMs;
  }

  /** Whether it is due because of its age; otherwise because it was quiet. */
  boolean atMaxAge() {
    return firstMs + bounds.maxAgeMs() < lastMs + bounds.quietMs();
  }

  /** Whether no further span will be kept. */
  boolean isFull() {
    return ids != null && ids.size() >= bounds.maxSpans();
  }

  /** Whether this span repeats a kept one, as far as {@link #isFull} needs that. */
  boolean has(TraceSpan span) {
    return ids != null && ids.contains(SharedIds.key(span));
  }

  /** Marks it as closed. */
  void end() {
    ended = true;
  }

  boolean hasEnded() {
    return ended;
  }

  /** A span of the trace came at this time. */
  void extend(long recordMs) {
    lastMs = Math.max(lastMs, recordMs);
  }

  /**
   * Adds the next fragment.
   *
   * @return whether it was kept: it is, unless it adds no kept span
   */
  boolean add(long recordMs, List<TraceSpan> fragment) {
    extend(recordMs);
    boolean crowded = ids != null || spans.size() + fragment.size() > bounds.maxSpans();
    if (crowded && !adds(fragment)) {
      return false;
    }
    keep(fragment);
    return true;
  }

  /** Takes spans that were kept before a snapshot, and how many of them the last preview had. */
  void keep(List<TraceSpan> fragment, int ofPreview) {
    keep(fragment);
    previewSpans = ofPreview;
  }

  private void keep(List<TraceSpan> fragment) {
    spans.addAll(fragment);
    heapBytes += HeapBytes.of(fragment);
  }

  private boolean adds(List<TraceSpan> fragment) {
    if (ids == null) {
      ids = new HashSet<>();
      addIds(spans);
    }
    return addIds(fragment);
  }

  private boolean addIds(List<TraceSpan> fragment) {
    boolean added = false;
    for (TraceSpan span : fragment) {
      if (!isFull() && ids.add(SharedIds.key(span))) {
        added = true;
        heapBytes += HeapBytes.SPAN_ID;
      }
    }
    return added;
  }
}
