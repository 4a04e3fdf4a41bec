package dev.sluice.traces;

import java.util.Arrays;
import java.util.TreeMap;

/**
 * Times at which trace ids were closed, for as long as another part of the trace would be late.
 * Bounded: beyond a number of closings it drops those closed longest ago.
 */
final class ClosedIds {
  static final long NEVER = TraceTimes.NONE;

  static final int MOST = 1_000_000;

  /** Ids that are due in one slot of the {@link Agenda}: two numbers each. */
  private static final class Ids {
    private long[] halves = new long[16];
    private int size;

    private void add(TraceId id) {
      if (size == halves.length) {
        halves = Arrays.copyOf(halves, size + size / 4 * 2);
      }
      halves[size++] = id.high();
      halves[size++] = id.low();
    }
  }

  private final long lateMs;
  private final int most;
  private final TraceTimes closedMs = new TraceTimes();
  private final TreeMap<Long, Ids> forgetting = new TreeMap<>();
  // Entries in `forgetting`, where an id that was closed again has another entry.
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
    return closedMs.get(id.high(), id.low());
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
    closedMs.put(id.high(), id.low(), dueMs);
    long atMs = Math.max(dueMs, Math.min(nowMs, Long.MAX_VALUE - 2 * lateMs)) + lateMs;
    forgetting.computeIfAbsent(Agenda.slot(atMs), absent -> new Ids()).add(id);
    closings++;
    while (closings > most) {
      Ids first = forgetting.pollFirstEntry().getValue();
      closings -= first.size / 2;
      for (int i = 0; i < first.size; i += 2) {
        closedMs.remove(first.halves[i], first.halves[i + 1]);
      }
    }
  }

  /** Forgets ids whose parts can be late no more. */
  void forget(long nowMs) {
    while (!forgetting.isEmpty() && Agenda.hasPassed(forgetting.firstKey(), nowMs)) {
      Ids due = forgetting.pollFirstEntry().getValue();
      closings -= due.size / 2;
      for (int i = 0; i < due.size; i += 2) {
        long closed = closedMs.get(due.halves[i], due.halves[i + 1]);
        // An id that was closed again meanwhile is entered again.
        if (closed != NEVER && closed + lateMs <= nowMs) {
          closedMs.remove(due.halves[i], due.halves[i + 1]);
        }
      }
    }
  }

  /** Visits the ids and when they were closed. */
  void forEach(TraceTimes.Visitor visitor) {
    closedMs.forEach(visitor);
  }
}
