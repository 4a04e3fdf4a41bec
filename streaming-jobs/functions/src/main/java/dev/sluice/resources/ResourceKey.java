package dev.sluice.resources;

import dev.sluice.otlp.MetricPoint;
import dev.sluice.otlp.MetricRole;

/**
 * Which points are summed: those of one series in one window.
 *
 * @param startNs since when the counter counts; 0 for levels and deltas, and where it is not told
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

  static ResourceKey of(MetricPoint point, long windowMs) {
    return new ResourceKey(
        point.host(),
        point.instance(),
        point.role(),
        point.rank(),
        point.series(),
        point.kind(),
        point.kind() == MetricPoint.Kind.COUNTER ? point.startNs() : 0,
        windowMs);
  }
}
