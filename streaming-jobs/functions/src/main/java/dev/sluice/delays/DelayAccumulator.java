package dev.sluice.delays;

import dev.sluice.accounting.Outcome;
import dev.sluice.otlp.Span;
import dev.sluice.windows.SpanSums;

/**
 * Sums how late the spans of one message came, by instance. All of them came at the record's time,
 * so they belong to its window.
 */
public final class DelayAccumulator extends SpanSums<Instance, Delays> {
  private static final long NS_PER_MS = 1_000_000;

  private long recordMs;

  /**
   * @param windowMs length of a window
   */
  public DelayAccumulator(long windowMs) {
    super(windowMs, Instance::of, Instance::covers, Delays::new);
  }

  /** When the next message came, ms of the Unix epoch. */
  public void at(long recordMs) {
    this.recordMs = recordMs;
  }

  @Override
  public Outcome accept(Span span) {
    at(span, recordMs).add(recordMs - Math.floorDiv(span.endNs(), NS_PER_MS));
    return Outcome.ACCEPTED;
  }
}
