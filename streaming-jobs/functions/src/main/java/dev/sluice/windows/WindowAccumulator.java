package dev.sluice.windows;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import java.util.HashMap;
import java.util.Map;

/**
 * Spreads the spans of one message over time buckets: partial rows that only have to be summed.
 *
 * <p>Buckets are half-open, {@code [k * length, (k + 1) * length)}. A span adds its overlap to each
 * bucket that it crosses, and its completion to the bucket that contains its end; a span that ends
 * exactly on a border therefore completes in a bucket in which it was never busy. Of a span longer
 * than the bound only the newest part is spread: its oldest buckets are the ones whose state is
 * likeliest gone. The same holds for spans that find {@value #MAX_ROWS} rows made already: a
 * message of long spans towards many peers would not fit memory.
 */
public final class WindowAccumulator implements SpanStage {
  /** Receives one partial row. */
  @FunctionalInterface
  public interface Visitor {
    void visit(ResourcePoint point, Partial partial);
  }

  private static final long NS_PER_MS = 1_000_000;
  private static final int MAX_ROWS = 200_000;

  private final long bucketNs;
  private final long maxSpreadNs;
  private final Map<ResourcePoint, Map<Long, Partial>> points = new HashMap<>();
  private ResourcePoint lastPoint;
  private Map<Long, Partial> lastBuckets;
  private int rows;

  /**
   * @param bucketMs length of a bucket
   * @param maxSpreadMs the longest part of a span that is spread
   */
  public WindowAccumulator(long bucketMs, long maxSpreadMs) {
    this.bucketNs = bucketMs * NS_PER_MS;
    this.maxSpreadNs = maxSpreadMs * NS_PER_MS;
  }

  @Override
  public Outcome accept(Span span) {
    if (!span.isServerSide() && !span.isClientSide()) {
      return Outcome.ACCEPTED; // INTERNAL spans are no use of a soft resource
    }
    Map<Long, Partial> buckets = bucketsOf(span);
    long end = span.endNs();
    boolean cut = span.durationNs() > maxSpreadNs;
    long from = cut ? end - maxSpreadNs : span.startNs();
    partial(buckets, end / bucketNs).complete(span.durationNs(), span.isError());
    for (long bucket = (end - 1) / bucketNs; bucket >= from / bucketNs; bucket--) {
      if (rows >= MAX_ROWS && !buckets.containsKey(bucket)) {
        cut = true;
        break;
      }
      long bucketStart = bucket * bucketNs;
      long overlap = Math.min(end, bucketStart + bucketNs) - Math.max(from, bucketStart);
      partial(buckets, bucket).overlap(overlap);
    }
    return cut ? Outcome.ACCEPTED_CUT : Outcome.ACCEPTED;
  }

  @Override
  public void clear() {
    points.clear();
    lastPoint = null;
    rows = 0;
  }

  /** Visits the partial rows of the current message, in no order. */
  public void forEach(Visitor visitor) {
    points.forEach(
        (point, buckets) -> buckets.values().forEach(partial -> visitor.visit(point, partial)));
  }

  private Map<Long, Partial> bucketsOf(Span span) {
    if (lastPoint == null || !lastPoint.covers(span)) {
      lastPoint = ResourcePoint.of(span);
      lastBuckets = points.computeIfAbsent(lastPoint, point -> new HashMap<>());
    }
    return lastBuckets;
  }

  private Partial partial(Map<Long, Partial> buckets, long bucket) {
    Partial partial = buckets.get(bucket);
    if (partial == null) {
      partial = new Partial(bucket * bucketNs / NS_PER_MS);
      buckets.put(bucket, partial);
      rows++;
    }
    return partial;
  }
}
