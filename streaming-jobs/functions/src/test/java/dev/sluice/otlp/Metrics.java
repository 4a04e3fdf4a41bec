package dev.sluice.otlp;

import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Gauge;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import io.opentelemetry.proto.metrics.v1.Sum;
import io.opentelemetry.proto.resource.v1.Resource;
import java.util.List;

/** Requests of metrics for tests, built with the generated classes. */
public final class Metrics {
  private Metrics() {}

  /** A point with a fractional value; time in ms after {@link Requests#MIDNIGHT_MS}. */
  public static NumberDataPoint.Builder point(double value, long timeMs, KeyValue... attributes) {
    return NumberDataPoint.newBuilder()
        .setAsDouble(value)
        .setTimeUnixNano((Requests.MIDNIGHT_MS + timeMs) * Requests.MS)
        .addAllAttributes(List.of(attributes));
  }

  public static Metric gauge(String name, NumberDataPoint.Builder... points) {
    Gauge.Builder gauge = Gauge.newBuilder();
    for (NumberDataPoint.Builder point : points) {
      gauge.addDataPoints(point);
    }
    return Metric.newBuilder().setName(name).setGauge(gauge).build();
  }

  /** A cumulative sum that only grows. */
  public static Metric counter(String name, NumberDataPoint.Builder... points) {
    return sum(name, AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE, true, points);
  }

  public static Metric sum(
      String name,
      AggregationTemporality temporality,
      boolean monotonic,
      NumberDataPoint.Builder... points) {
    Sum.Builder sum =
        Sum.newBuilder().setAggregationTemporality(temporality).setIsMonotonic(monotonic);
    for (NumberDataPoint.Builder point : points) {
      sum.addDataPoints(point);
    }
    return Metric.newBuilder().setName(name).setSum(sum).build();
  }

  public static ResourceMetrics resource(List<KeyValue> attributes, Metric... metrics) {
    return ResourceMetrics.newBuilder()
        .setResource(Resource.newBuilder().addAllAttributes(attributes))
        .addScopeMetrics(ScopeMetrics.newBuilder().addAllMetrics(List.of(metrics)))
        .build();
  }

  /** Metrics of a container of pod "cart-0" on node "node-1". */
  public static ResourceMetrics pod(String container, Metric... metrics) {
    return resource(
        List.of(
            Requests.attribute("k8s.pod.name", "cart-0"),
            Requests.attribute("k8s.container.name", container),
            Requests.attribute("k8s.node.name", "node-1")),
        metrics);
  }

  /** Metrics of host "node-1". */
  public static ResourceMetrics host(Metric... metrics) {
    return resource(List.of(Requests.attribute("host.name", "node-1")), metrics);
  }

  public static byte[] message(ResourceMetrics... resources) {
    return ExportMetricsServiceRequest.newBuilder()
        .addAllResourceMetrics(List.of(resources))
        .build()
        .toByteArray();
  }
}
