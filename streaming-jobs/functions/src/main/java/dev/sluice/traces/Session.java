package dev.sluice.traces;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Fragments of one trace id that belong together: each came within the quiet time after the one
 * before it, and within the maximum age after the first (both exclusive).
 *
 * <p>Built in the order of the log, so decided by it alone, whatever was read first: reading a
 * topic again gives the same sessions, and a trace id that is used again (a recording that is
 * replayed twice) starts a session of its own. Bounded: of its spans the first so many of different
 * ids are kept. What comes then still extends it.
 */
public final class Session {
  private final OpenTraces.Bounds bounds;
  private final long firstMs;
  private final List<byte[]> fragments = new ArrayList<>(4);
  private long lastMs;
  private int spans;
  private long heapBytes = HeapBytes.TRACE;
  // Ids of the spans that are kept; null while there is room for all, repeated or not.
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

  /** Encoded {@link Fragment}s, in the order of the log. */
  public List<byte[]> fragments() {
    return fragments;
  }

  /** Record time of the first fragment. */
  public long firstMs() {
    return firstMs;
  }

  /** Record time of the last fragment so far. */
  long lastMs() {
    return lastMs;
  }

  /** Spans of the fragments that are kept, repeated ones too. */
  int spans() {
    return spans;
  }

  /** What it takes, by {@link HeapBytes}. */
  long heapBytes() {
    return heapBytes;
  }

  /** Record time from which it can be closed: nothing later belongs to it. It only grows. */
  public long dueMs() {
    return Math.min(lastMs + bounds.quietMs(), firstMs + bounds.maxAgeMs());
  }

  /** Whether it is due because of its age; else because it was quiet. */
  boolean atMaxAge() {
    return firstMs + bounds.maxAgeMs() < lastMs + bounds.quietMs();
  }

  /** Whether no further span will be kept. */
  boolean isFull() {
    return ids != null && ids.size() >= bounds.maxSpans();
  }

  /** Whether a span of this id is kept, as far as {@link #isFull} makes that a question. */
  boolean has(long spanId) {
    return ids != null && ids.contains(spanId);
  }

  /** Says that the trace was still seen then. */
  void extend(long recordMs) {
    lastMs = Math.max(lastMs, recordMs);
  }

  /**
   * Adds the next fragment.
   *
   * @param size its spans
   * @return whether it was kept: it is, unless it adds no span to those that are kept
   */
  boolean add(long recordMs, byte[] fragment, int size) {
    extend(recordMs);
    boolean crowded = ids != null || spans + size > bounds.maxSpans();
    if (crowded && !adds(fragment)) {
      return false;
    }
    keep(fragment, size);
    return true;
  }

  /** Takes a fragment that was kept before a snapshot. */
  void keep(byte[] fragment, int size) {
    fragments.add(fragment);
    spans += size;
    heapBytes += HeapBytes.of(fragment);
  }

  private boolean adds(byte[] fragment) {
    if (ids == null) {
      ids = new HashSet<>();
      fragments.forEach(this::addIds);
    }
    return addIds(fragment);
  }

  private boolean addIds(byte[] fragment) {
    boolean added = false;
    for (TraceSpan span : Fragment.decode(fragment)) {
      if (!isFull() && ids.add(span.spanId())) {
        added = true;
        heapBytes += HeapBytes.SPAN_ID;
      }
    }
    return added;
  }
}
