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
 * @param firstMs record time of the first fragment
 * @param atMaxAge whether it is due because of its age; else because it was quiet
 * @param dueMs record time from which the session can be closed: nothing later belongs to it
 */
public record Session(List<byte[]> fragments, long firstMs, long dueMs, boolean atMaxAge) {
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
    Session open = null;
    for (byte[] fragment : sorted) {
      long receivedMs = Fragment.receivedMs(fragment);
      if (open != null && receivedMs >= open.dueMs) {
        sessions.add(open);
        open = null;
        current = new ArrayList<>();
      }
      current.add(fragment);
      long firstMs = open == null ? receivedMs : open.firstMs;
      long quietAtMs = receivedMs + quietMs;
      long oldAtMs = firstMs + maxAgeMs;
      open = new Session(current, firstMs, Math.min(quietAtMs, oldAtMs), oldAtMs < quietAtMs);
    }
    if (open != null) {
      sessions.add(open);
    }
    return sessions;
  }
}
