package dev.sluice.delays;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * How late the spans of one message came, by instance. All of them came at the record's time, so
 * they belong to its window.
 */
public final class DelayAccumulator implements SpanStage {
  private static final long NS_PER_MS = 1_000_000;

  private final long windowMs;
  private final Map<Instance, Delays> instances = new HashMap<>();
  private long recordMs;
  private Instance lastInstance;
  private Delays lastDelays;

  /**
   * @param windowMs length of a window
   */
  public DelayAccumulator(long windowMs) {
    this.windowMs = windowMs;
  }

  /** When the next message came, ms of the Unix epoch. */
  public void at(long recordMs) {
    this.recordMs = recordMs;
  }

  @Override
  public Outcome accept(Span span) {
    delaysOf(span).add(recordMs - Math.floorDiv(span.endNs(), NS_PER_MS));
    return Outcome.ACCEPTED;
  }

  @Override
  public void clear() {
    instances.clear();
    lastInstance = null;
  }

  /** Visits the delays of the current message, in no order. */
  public void forEach(BiConsumer<? super Instance, ? super Delays> visitor) {
    instances.forEach(visitor);
  }

  private Delays delaysOf(Span span) {
    if (lastInstance == null || !lastInstance.covers(span)) {
      lastInstance = Instance.of(span);
      lastDelays =
          instances.computeIfAbsent(
              lastInstance, absent -> new Delays(Math.floorDiv(recordMs, windowMs) * windowMs));
    }
    return lastDelays;
  }
}
