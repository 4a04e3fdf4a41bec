package dev.sluice.resources;

import dev.sluice.bounds.MetricBounds;
import dev.sluice.bounds.Rest;
import dev.sluice.otlp.MetricPoint;
import dev.sluice.otlp.PoolFigure;
import dev.sluice.otlp.PoolPoint;
import dev.sluice.otlp.PoolSide;

/**
 * The key of summed figures of pools: those of one series in one window. For series without room it
 * is the same for all points of one figure and side of their service and instance.
 *
 * @param startNs since when the counter counts; 0 for levels and deltas, and where it is not known
 * @param windowMs start of the window, ms of the Unix epoch
 */
public record PoolKey(
    String service,
    String instance,
    PoolSide side,
    String pool,
    String peer,
    PoolFigure figure,
    int rank,
    String series,
    MetricPoint.Kind kind,
    long startNs,
    long windowMs) {

  static PoolKey of(PoolPoint point, long windowMs, MetricBounds bounds) {
    String service = bounds.service(point.service());
    String instance = bounds.instance(service, point.instance());
    String series = point.series();
    boolean isSeparate = bounds.isSeparateSeries(service, instance, series, point.startNs());
    return new PoolKey(
        service,
        instance,
        point.side(),
        isSeparate ? point.pool() : Rest.NAME,
        isSeparate ? point.peer() : "",
        point.figure(),
        point.rank(),
        isSeparate ? series : Rest.NAME,
        point.kind(),
        isSeparate ? point.startNs() : 0,
        windowMs);
  }

  /** Whether there was no room for the service, the instance or the series. */
  boolean isInRest() {
    return Rest.NAME.equals(series);
  }
}
