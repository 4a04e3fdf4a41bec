package dev.sluice.trees;

import dev.sluice.otlp.Span;
import dev.sluice.paths.Serial;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * One node of a call tree: a service that was entered, or a called peer without spans of its own.
 * Its calls are in {@link #stages} once {@link #arrange} was called, children first.
 */
final class Entry {
  /** Ignores time; equal only where the same text is written (except for equal hashes). */
  private static final Comparator<Entry> CANONICAL =
      Comparator.comparing((Entry entry) -> entry.service)
          .thenComparing(entry -> entry.operation)
          .thenComparing(entry -> entry.shape);

  private static final Comparator<Entry> BY_TIME =
      Comparator.comparingLong((Entry entry) -> entry.startNs)
          .thenComparing(entry -> entry.endNs)
          .thenComparing(CANONICAL);

  // An odd number whose bits are spread (xxHash's first prime): multiplying by it spreads hashes.
  private static final long SPREAD = 0x9E37_79B1_85EB_CA87L;
  private static final int MIX = 29;

  final String service;
  final String operation;
  // Most entries call nothing: their lists are made with the first call.
  List<List<Entry>> stages = List.of();
  private final long startNs;
  private final long endNs;
  private List<Entry> calls = List.of();
  private long shape;

  /** Calls that are waited for together; it grows in the order of their starts. */
  private static final class Stage {
    private final List<Entry> calls = new ArrayList<>(1);
    // The calls that may end after the next call starts.
    private final List<Entry> open = new ArrayList<>(1);
    private long endNs = Long.MIN_VALUE;

    private void add(Entry call) {
      calls.add(call);
      open.add(call);
      endNs = Math.max(endNs, call.endNs);
    }

    /**
     * Whether a call that starts no earlier follows all of these. The look at each costs little in
     * sum: it is taken only where the call is 100 times as long as what the stage goes on, so one
     * that does not follow makes the next that needs such a look 99 times as long again.
     */
    private boolean hasEnded(Entry call) {
      long lengthNs = call.endNs - call.startNs;
      if (call.startNs >= endNs) {
        return true;
      }
      if (!Serial.allows(endNs - call.startNs, lengthNs, lengthNs)) {
        return false;
      }
      open.removeIf(sibling -> sibling.endNs <= call.startNs);
      for (Entry sibling : open) {
        if (!Serial.allows(
            sibling.endNs - call.startNs, lengthNs, sibling.endNs - sibling.startNs)) {
          return false;
        }
      }
      return true;
    }
  }

  private Entry(String service, String operation, TraceSpan timed) {
    this.service = service;
    this.operation = operation;
    startNs = timed.startNs();
    endNs = timed.endNs();
  }

  /** A service that a span entered; {@code caller} is the span above it, or null. */
  static Entry by(TraceSpan span, TraceSpan caller) {
    boolean timedByCaller = caller != null && caller.kind() == Span.CLIENT;
    return new Entry(span.service(), span.operation(), timedByCaller ? caller : span);
  }

  /** The peer of a CLIENT span; the operation requested there is not known. */
  static Entry unseen(TraceSpan client) {
    return new Entry(client.peer(), "", client);
  }

  void call(Entry callee) {
    if (calls.isEmpty()) {
      calls = new ArrayList<>(2);
    }
    calls.add(callee);
  }

  /** Sorts the calls into stages. The calls must be arranged already. */
  void arrange() {
    if (!calls.isEmpty()) {
      calls.sort(BY_TIME);
      divide();
    }
    long hash = spread(service.hashCode()) + operation.hashCode();
    for (List<Entry> parallel : stages) {
      parallel.sort(CANONICAL);
      hash = spread(hash + 1);
      for (Entry call : parallel) {
        hash = spread(hash ^ call.shape);
      }
    }
    shape = hash;
  }

  private void divide() {
    stages = new ArrayList<>(calls.size());
    Stage stage = new Stage();
    long lastStartNs = Long.MIN_VALUE;
    for (Entry call : calls) {
      // Otherwise calls of no length that start together would be serial, in an arbitrary order.
      if (call.startNs > lastStartNs && stage.hasEnded(call)) {
        stage = new Stage();
        stages.add(stage.calls);
      }
      lastStartNs = call.startNs;
      stage.add(call);
    }
  }

  /** A hash of the fields that {@link #isLike} compares: equal for trees that are alike. */
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
