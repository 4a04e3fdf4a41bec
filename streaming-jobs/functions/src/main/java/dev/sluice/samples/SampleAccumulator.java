package dev.sluice.samples;

import dev.sluice.accounting.Outcome;
import dev.sluice.otlp.Span;
import dev.sluice.windows.SpanSums;

/**
 * Sums the SERVER and CONSUMER spans of one message by site and window, as samples that add up. A
 * request belongs to the window that contains its end, {@code [k * length, (k + 1) * length)}.
 */
public final class SampleAccumulator extends SpanSums<Site, Sample> {
  private static final long NS_PER_MS = 1_000_000;

  /**
   * @param windowMs length of a window
   */
  public SampleAccumulator(long windowMs) {
    super(windowMs, Site::of, Site::covers, Sample::new);
  }

  @Override
  public Outcome accept(Span span) {
    if (span.isServerSide()) {
      at(span, span.endNs() / NS_PER_MS).add(span.durationNs(), span.isError());
    }
    return Outcome.ACCEPTED;
  }
}
