package dev.sluice.sizes;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import dev.sluice.windows.ResourcePoint;
import java.util.HashMap;
import java.util.Map;

/**
 * Sums the rows and bytes in the spans of one message, by point and window of the span's end. Spans
 * with neither, which are most, cost two comparisons and make no row.
 *
 * <p>A client span counts under the peer of its attributes. It does not move to the service that
 * its trace shows, as windows do.
 */
public final class SizeAccumulator implements SpanStage {
  /** Receives one partial size. */
  @FunctionalInterface
  public interface Visitor {
    void visit(ResourcePoint point, DataSize size);
  }

  private static final long NS_PER_MS = 1_000_000;

  private final long windowMs;
  private final Map<ResourcePoint, Map<Long, DataSize>> points = new HashMap<>();
  private ResourcePoint lastPoint;
  private Map<Long, DataSize> lastWindows;

  /**
   * @param windowMs length of a window
   */
  public SizeAccumulator(long windowMs) {
    this.windowMs = windowMs;
  }

  @Override
  public Outcome accept(Span span) {
    long rows = span.rows();
    long bytes = span.dataBytes();
    if ((rows >= 0 || bytes >= 0) && (span.isServerSide() || span.isClientSide())) {
      windowsOf(span)
          .computeIfAbsent(
              span.endNs() / (windowMs * NS_PER_MS), window -> new DataSize(window * windowMs))
          .add(rows, bytes);
    }
    return Outcome.ACCEPTED;
  }

  @Override
  public void clear() {
    points.clear();
    lastPoint = null;
  }

  /** Visits the sizes of the current message, in no order. */
  public void forEach(Visitor visitor) {
    points.forEach(
        (point, windows) -> windows.values().forEach(size -> visitor.visit(point, size)));
  }

  private Map<Long, DataSize> windowsOf(Span span) {
    if (lastPoint == null || !lastPoint.covers(span)) {
      lastPoint = ResourcePoint.of(span);
      lastWindows = points.computeIfAbsent(lastPoint, point -> new HashMap<>());
    }
    return lastWindows;
  }
}
