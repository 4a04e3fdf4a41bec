package dev.sluice.traces;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Fragments of one trace id that belong together: each came within the quiet time after the one
 * before it, and within the maximum age after the first (both exclusive).
 *
 * <p>Decided by record time alone, not by the order in which partitions happened to be read: so
 * that reading a topic again gives the same sessions, and a trace id that is used again (a
 * recording that is replayed twice) starts a session of its own.
 *
 * @param dueMs record time from which the session can be closed: nothing later belongs to it
 */
public record Session(List<byte[]> fragments, long dueMs) {
  /**
   * Splits fragments into sessions, oldest first.
   *
   * @param fragments encoded {@link Fragment}s in any order
   */
  public static List<Session> split(Iterable<byte[]> fragments, long quietMs, long maxAgeMs) {
    List<byte[]> sorted = new ArrayList<>();
    fragments.forEach(sorted::add);
    sorted.sort(Comparator.comparingLong(Fragment::receivedMs));

    List<Session> sessions = new ArrayList<>();
    List<byte[]> current = new ArrayList<>();
    long firstMs = 0;
    long dueMs = 0;
    for (byte[] fragment : sorted) {
      long receivedMs = Fragment.receivedMs(fragment);
      if (!current.isEmpty() && receivedMs >= dueMs) {
        sessions.add(new Session(current, dueMs));
        current = new ArrayList<>();
      }
      if (current.isEmpty()) {
        firstMs = receivedMs;
      }
      current.add(fragment);
      dueMs = Math.min(receivedMs + quietMs, firstMs + maxAgeMs);
    }
    if (!current.isEmpty()) {
      sessions.add(new Session(current, dueMs));
    }
    return sessions;
  }
}
