package dev.sluice.sizes;

import dev.sluice.accounting.Outcome;
import dev.sluice.otlp.Span;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.SpanSums;

/**
 * Sums the rows and bytes in the spans of one message, by point and window of the span's end. Spans
 * with neither, which are most, cost two comparisons and make no row.
 *
 * <p>A client span counts under the peer of its attributes. It does not move to the service that
 * its trace shows, as windows do.
 */
public final class SizeAccumulator extends SpanSums<ResourcePoint, DataSize> {
  private static final long NS_PER_MS = 1_000_000;

  /**
   * @param windowMs length of a window
   */
  public SizeAccumulator(long windowMs) {
    super(windowMs, ResourcePoint::of, ResourcePoint::covers, DataSize::new);
  }

  @Override
  public Outcome accept(Span span) {
    long rows = span.rows();
    long bytes = span.dataBytes();
    if ((rows >= 0 || bytes >= 0) && (span.isServerSide() || span.isClientSide())) {
      at(span, span.endNs() / NS_PER_MS).add(rows, bytes);
    }
    return Outcome.ACCEPTED;
  }
}
