package dev.sluice.trees;

import dev.sluice.otlp.Span;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * One node of a call tree: a service that was entered, or a peer that was called and shows nothing
 * of itself. Its calls stand in {@link #stages} once {@link #arrange} was called, children first.
 */
final class Entry {
  /** Without regard to time; equal only where the same text is written (but for equal hashes). */
  private static final Comparator<Entry> CANONICAL =
      Comparator.comparing((Entry entry) -> entry.service)
          .thenComparing(entry -> entry.operation)
          .thenComparing(entry -> entry.shape);

  private static final Comparator<Entry> BY_TIME =
      Comparator.comparingLong((Entry entry) -> entry.startNs)
          .thenComparing(entry -> entry.endNs)
          .thenComparing(CANONICAL);

  // An odd number with bits all over (xxHash's first prime): multiplying by it spreads them.
  private static final long SPREAD = 0x9E37_79B1_85EB_CA87L;
  private static final int MIX = 29;

  final String service;
  final String operation;
  final List<List<Entry>> stages = new ArrayList<>(2);
  private final long startNs;
  private final long endNs;
  private final List<Entry> calls = new ArrayList<>(2);
  private long shape;

  private Entry(String service, String operation, TraceSpan timed) {
    this.service = service;
    this.operation = operation;
    startNs = timed.startNs();
    endNs = timed.endNs();
  }

  /** A service entered by a span; {@code caller} is the span above it, or null. */
  static Entry by(TraceSpan span, TraceSpan caller) {
    boolean timedByCaller = caller != null && caller.kind() == Span.CLIENT;
    return new Entry(span.service(), span.operation(), timedByCaller ? caller : span);
  }

  /** Who a CLIENT span talks to; what it is asked for there is not known. */
  static Entry unseen(TraceSpan client) {
    return new Entry(client.peer(), "", client);
  }

  void call(Entry callee) {
    calls.add(callee);
  }

  /** Puts the calls into their stages. The calls must be arranged already. */
  void arrange() {
    calls.sort(BY_TIME);
    long stageEndNs = Long.MIN_VALUE;
    long lastStartNs = Long.MIN_VALUE;
    for (Entry call : calls) {
      // Calls of no length that begin at once would else be serial, in an order that nothing tells.
      if (call.startNs >= stageEndNs && call.startNs > lastStartNs) {
        stages.add(new ArrayList<>(1));
      }
      lastStartNs = call.startNs;
      stages.get(stages.size() - 1).add(call);
      stageEndNs = Math.max(stageEndNs, call.endNs);
    }
    long hash = spread(service.hashCode()) + operation.hashCode();
    for (List<Entry> stage : stages) {
      stage.sort(CANONICAL);
      hash = spread(hash + 1);
      for (Entry call : stage) {
        hash = spread(hash ^ call.shape);
      }
    }
    shape = hash;
  }

  /** Of what {@link #isLike} compares: equal for trees that are alike. */
  long shape() {
    return shape;
  }

  /** Whether the same text is written for both. */
  boolean isLike(Entry other) {
    if (shape != other.shape
        || stages.size() != other.stages.size()
        || !service.equals(other.service)
        || !operation.equals(other.operation)) {
      return false;
    }
    for (int i = 0; i < stages.size(); i++) {
      List<Entry> mine = stages.get(i);
      List<Entry> others = other.stages.get(i);
      if (mine.size() != others.size()) {
        return false;
      }
      for (int j = 0; j < mine.size(); j++) {
        if (!mine.get(j).isLike(others.get(j))) {
          return false;
        }
      }
    }
    return true;
  }

  private static long spread(long bits) {
    long product = (bits + 1) * SPREAD;
    return product ^ (product >>> MIX);
  }
}
