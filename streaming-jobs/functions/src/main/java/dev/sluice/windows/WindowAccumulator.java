package dev.sluice.windows;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import java.util.Arrays;

/**
 * Spreads the spans of one message over time buckets, as {@link Spread} defines, and sums them.
 *
 * <p>Once there are {@value #MAX_ROWS} rows, further spans are cut: a message of long spans towards
 * many peers would not fit into memory. The part that is cut then depends on the other spans of the
 * message.
 */
public final class WindowAccumulator implements SpanStage {
  /** Rows of one message. A message whose spans touch no more buckets than this is never cut. */
  public static final int MAX_ROWS = 200_000;

  private static final int RECENT = 4;

  private final Spread spread;
  private final Partials partials;
  // Spans of one resource alternate between its few points: server side, and client side per peer.
  private final ResourcePoint[] recent = new ResourcePoint[RECENT];
  private final Buckets[] recentBuckets = new Buckets[RECENT];
  private int oldest;

  public WindowAccumulator(Spread spread) {
    this.spread = spread;
    this.partials = new Partials(spread);
  }

  @Override
  public Outcome accept(Span span) {
    if (!span.isServerSide() && !span.isClientSide() || !span.use().counts()) {
      return Outcome.ACCEPTED; // INTERNAL spans hold no place in a pool
    }
    long start = span.startNs();
    long end = span.endNs();
    long from = span.isShortened() ? spread.shortFrom(start, end) : start;
    boolean whole = partials.add(bucketsOf(span), from, start, end, span.isError(), 1, MAX_ROWS);
    return whole && !span.isShortened() && !spread.cuts(start, end)
        ? Outcome.ACCEPTED
        : Outcome.ACCEPTED_CUT;
  }

  /** Takes back a span of the current message that was not cut. */
  public void undo(ResourcePoint point, long startNs, long endNs, boolean error) {
    partials.undo(point, startNs, endNs, error);
  }

  @Override
  public void clear() {
    partials.clear();
    Arrays.fill(recent, null);
  }

  /** Visits the partial rows of the current message, in no order. */
  public void forEach(Partials.Visitor visitor) {
    partials.forEach(visitor);
  }

  private Buckets bucketsOf(Span span) {
    for (int i = 0; i < RECENT; i++) {
      if (recent[i] != null && recent[i].covers(span)) {
        return recentBuckets[i];
      }
    }
    ResourcePoint point = ResourcePoint.of(span);
    Buckets buckets = partials.bucketsOf(point);
    recent[oldest] = point;
    recentBuckets[oldest] = buckets;
    oldest = (oldest + 1) % RECENT;
    return buckets;
  }
}
