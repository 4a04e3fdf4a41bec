package dev.sluice.traces;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Times at which trace ids were closed, for as long as another part of the trace would be late.
 * Bounded: beyond a number of closings it drops those closed longest ago.
 */
final class ClosedIds {
  static final long NEVER = Long.MIN_VALUE;

  static final int MOST = 1_000_000;

  private final long lateMs;
  private final int most;
  private final Map<TraceId, Long> closedMs = new HashMap<>();
  private final Agenda<TraceId> forgetting = new Agenda<>();
  // Entries on the agenda, where an id that was closed again has another entry.
  private int closings;

  /**
   * @param lateMs 0: late parts are not counted, nothing is kept
   * @param most closings that are kept
   */
  ClosedIds(long lateMs, int most) {
    this.lateMs = lateMs;
    this.most = most;
  }

  /** Record time at which the trace was due; {@link #NEVER} if it was not closed, or long ago. */
  long of(TraceId id) {
    return closedMs.getOrDefault(id, NEVER);
  }

  /**
   * Records that a trace was closed.
   *
   * @param dueMs record time at which it was due
   * @param nowMs the present record time
   */
  void add(TraceId id, long dueMs, long nowMs) {
    if (lateMs == 0) {
      return;
    }
    closedMs.put(id, dueMs);
    forgetting.enter(id, Math.max(dueMs, Math.min(nowMs, Long.MAX_VALUE - 2 * lateMs)) + lateMs);
    closings++;
    while (closings > most) {
      List<TraceId> first = forgetting.first();
      closings -= first.size();
      first.forEach(closedMs::remove);
    }
  }

  /** Forgets ids whose parts can be late no more. */
  void forget(long nowMs) {
    for (List<TraceId> due = forgetting.due(nowMs); due != null; due = forgetting.due(nowMs)) {
      closings -= due.size();
      for (TraceId id : due) {
        Long closed = closedMs.get(id);
        // An id that was closed again meanwhile is entered again.
        if (closed != null && closed + lateMs <= nowMs) {
          closedMs.remove(id);
        }
      }
    }
  }

  /** Ids and when they were closed. */
  Set<Map.Entry<TraceId, Long>> all() {
    return closedMs.entrySet();
  }
}
