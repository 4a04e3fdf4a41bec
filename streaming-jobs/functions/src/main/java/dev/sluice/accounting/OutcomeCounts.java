package dev.sluice.accounting;

import java.util.HashMap;
import java.util.Map;

/** Counts outcomes, of one message or of several, by outcome and service. */
public final class OutcomeCounts {
  /** The key of separate counts. */
  public record Key(Outcome outcome, String service) {}

  /** Mutable sums of one key. */
  public static final class Sums {
    private long messages;
    private long spans;
    private long emitLagMs;
    private long contributions;

    /** Messages that could not be decoded. */
    public long messages() {
      return messages;
    }

    /** Net spans; negative where spans move to another outcome. */
    public long spans() {
      return spans;
    }

    /** Sum over accepted spans of (record time - span end), in ms. */
    public long emitLagMs() {
      return emitLagMs;
    }

    /** How often this key changed: it only grows, which {@link #spans} does not. */
    public long contributions() {
      return contributions;
    }
  }

  /** Receives the sums of one key. */
  @FunctionalInterface
  public interface Visitor {
    void visit(Key key, Sums sums);
  }

  private final Map<Key, Sums> sums = new HashMap<>();
  // Spans of one resource are adjacent, and share one String for their service.
  private Outcome lastOutcome;
  private String lastService;
  private Sums last;

  public void span(Outcome outcome, String service, long emitLagMs) {
    Sums sum = at(outcome, service);
    sum.spans++;
    sum.emitLagMs += emitLagMs;
    sum.contributions++;
  }

  public void message(Outcome outcome) {
    Sums sum = at(outcome, "");
    sum.messages++;
    sum.contributions++;
  }

  /**
   * Moves an accepted span to another outcome: a later stage found that it must not be used.
   *
   * @param from how it was accepted
   */
  public void reclassify(String service, Outcome from, Outcome outcome, long emitLagMs) {
    Sums accepted = at(from, service);
    accepted.spans--;
    accepted.emitLagMs -= emitLagMs;
    accepted.contributions++;
    span(outcome, service, 0);
  }

  /** Adds the sums of one key. */
  public void add(Key key, Sums more) {
    Sums sum = sums.computeIfAbsent(key, absent -> new Sums());
    sum.messages += more.messages;
    sum.spans += more.spans;
    sum.emitLagMs += more.emitLagMs;
    sum.contributions += more.contributions;
  }

  public void clear() {
    sums.clear();
    last = null;
  }

  /** Number of keys that were counted. */
  public int size() {
    return sums.size();
  }

  public void forEach(Visitor visitor) {
    sums.forEach(visitor::visit);
  }

  private Sums at(Outcome outcome, String service) {
    if (last == null || outcome != lastOutcome || !service.equals(lastService)) {
      last = sums.computeIfAbsent(new Key(outcome, service), key -> new Sums());
      lastOutcome = outcome;
      lastService = service;
    }
    return last;
  }
}
