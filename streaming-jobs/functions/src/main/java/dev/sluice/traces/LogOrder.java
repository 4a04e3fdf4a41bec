package dev.sluice.traces;

import java.util.List;
import java.util.stream.Stream;

/**
 * Brings fragments into the order of the log: each waits until the watermark has passed its record
 * time. By then all records before it have been read, from every partition.
 */
final class LogOrder {
  private final Agenda<TraceFragment> waiting = new Agenda<>();

  void add(TraceFragment fragment) {
    waiting.enter(fragment, fragment.recordMs() + 1);
  }

  /**
   * The next fragments that the watermark has passed, in the order of the log; null if there is
   * none.
   *
   * @param nowMs the watermark: no older record is still to be read
   */
  List<TraceFragment> next(long nowMs) {
    return sorted(waiting.due(nowMs));
  }

  /** The next fragments, passed or not; null when none waits. */
  List<TraceFragment> first() {
    return sorted(waiting.first());
  }

  /** Stable: fragments of one message stay in their order. */
  private static List<TraceFragment> sorted(List<TraceFragment> fragments) {
    if (fragments != null) {
      fragments.sort(TraceFragment.IN_LOG);
    }
    return fragments;
  }

  /** All that wait. */
  Stream<TraceFragment> all() {
    return waiting.all();
  }
}
