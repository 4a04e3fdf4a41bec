package dev.sluice.resources;

import dev.sluice.bounds.MetricBounds;
import dev.sluice.bounds.Rest;
import dev.sluice.otlp.MetricPoint;
import dev.sluice.otlp.MetricRole;

/**
 * The key of summed points: those of one series in one window. For series without room it is the
 * same for all points of one metric's role.
 *
 * @param startNs since when the counter counts; 0 for levels and deltas, and where it is not known
 * @param windowMs start of the window, ms of the Unix epoch
 */
public record ResourceKey(
    String host,
    String instance,
    MetricRole role,
    int rank,
    String series,
    MetricPoint.Kind kind,
    long startNs,
    long windowMs) {

  static ResourceKey of(MetricPoint point, long windowMs, MetricBounds bounds) {
    String host = bounds.host(point.host());
    String instance = bounds.instance(host, point.instance());
    long startNs = point.kind() == MetricPoint.Kind.COUNTER ? point.startNs() : 0;
    boolean isSeparate = bounds.isSeparateSeries(host, instance, point.series(), startNs);
    return new ResourceKey(
        host,
        instance,
        point.role(),
        point.rank(),
        isSeparate ? point.series() : Rest.NAME,
        point.kind(),
        isSeparate ? startNs : 0,
        windowMs);
  }

  /** Whether there was no room for the host, the instance or the series. */
  boolean isInRest() {
    return Rest.NAME.equals(series);
  }
}
