package dev.sluice.otlp;

import static dev.sluice.otlp.Requests.attribute;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.MetricPoint.Kind;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The hand-written decoder of metrics against the generated classes, on random requests. */
class MetricsDecoderAgreesWithProtobufTest {
  private static final String[] NAMES = {
    "system.cpu.utilization", "container.cpu.usage", "system.network.io", "nobody.reads.this", ""
  };
  private static final String[] KEYS = {"state", "cpu.mode", "device", "cpu"};
  private static final String[] VALUES = {"idle", "user", "lo", "eth0", ""};

  private final MetricsRequestDecoder decoder =
      new MetricsRequestDecoder((service, route) -> false);

  @Property(tries = 500)
  void readsWhatTheGeneratedClassesRead(@ForAll long seed) throws Exception {
    ExportMetricsServiceRequest request = randomRequest(new Random(seed));
    List<MetricPoint> points = new ArrayList<>();
    decoder.decode(request.toByteArray(), points::add, pool -> {});
    assertThat(points).isEqualTo(expected(request));
  }

  private static List<MetricPoint> expected(ExportMetricsServiceRequest request) {
    List<MetricPoint> expected = new ArrayList<>();
    for (ResourceMetrics resource : request.getResourceMetricsList()) {
      TreeMap<String, String> identity = map(resource.getResource().getAttributesList());
      for (ScopeMetrics scope : resource.getScopeMetricsList()) {
        for (Metric metric : scope.getMetricsList()) {
          boolean level = !metric.getSum().getIsMonotonic();
          boolean counter =
              metric.getSum().getAggregationTemporality()
                  == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE;
          List<NumberDataPoint> points =
              metric.hasSum()
                  ? metric.getSum().getDataPointsList()
                  : metric.getGauge().getDataPointsList();
          for (NumberDataPoint point : points) {
            TreeMap<String, String> own = map(point.getAttributesList());
            if ((point.getFlags() & 1) != 0 || !counts(metric.getName(), own)) {
              continue;
            }
            boolean ofHost = metric.getName().startsWith("system.");
            expected.add(
                new MetricPoint(
                    role(metric.getName()),
                    1,
                    identity.getOrDefault("k8s.node.name", identity.getOrDefault("host.name", "")),
                    ofHost
                        ? ""
                        : identity.getOrDefault(
                            "k8s.pod.name", identity.getOrDefault("host.name", "")),
                    series(metric.getName(), own),
                    level ? Kind.LEVEL : counter ? Kind.COUNTER : Kind.DELTA,
                    point.getStartTimeUnixNano(),
                    point.getTimeUnixNano(),
                    switch (point.getValueCase()) {
                      case AS_DOUBLE -> point.getAsDouble();
                      case AS_INT -> point.getAsInt();
                      default -> Double.NaN;
                    }));
          }
        }
      }
    }
    return expected;
  }

  private static MetricRole role(String name) {
    return switch (name) {
      case "system.cpu.utilization" -> MetricRole.HOST_CPU_IDLE;
      case "system.network.io" -> MetricRole.HOST_NETWORK;
      default -> MetricRole.CONTAINER_CPU;
    };
  }

  private static boolean counts(String name, TreeMap<String, String> own) {
    return switch (name) {
      case "system.cpu.utilization" ->
          "idle".equals(own.get("state")) || "idle".equals(own.get("cpu.mode"));
      case "system.network.io" -> !"lo".equals(own.get("device"));
      case "container.cpu.usage" -> true;
      default -> false;
    };
  }

  private static String series(String name, TreeMap<String, String> own) {
    return own.isEmpty()
        ? name
        : own.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .collect(Collectors.joining(",", name + " ", ""));
  }

  private static TreeMap<String, String> map(List<KeyValue> attributes) {
    TreeMap<String, String> map = new TreeMap<>();
    for (KeyValue attribute : attributes) {
      if (!attribute.getValue().getStringValue().isEmpty()) {
        map.put(attribute.getKey(), attribute.getValue().getStringValue());
      }
    }
    return map;
  }

  private static ExportMetricsServiceRequest randomRequest(Random random) {
    ExportMetricsServiceRequest.Builder request = ExportMetricsServiceRequest.newBuilder();
    for (int r = random.nextInt(4); r > 0; r--) {
      ResourceMetrics.Builder resource = ResourceMetrics.newBuilder();
      for (String key : List.of("k8s.node.name", "host.name", "k8s.pod.name", "other")) {
        if (random.nextBoolean()) {
          resource.getResourceBuilder().addAttributes(attribute(key, "n" + random.nextInt(3)));
        }
      }
      for (int s = random.nextInt(3); s > 0; s--) {
        ScopeMetrics.Builder scope = ScopeMetrics.newBuilder().setSchemaUrl("https://example.org");
        for (int m = random.nextInt(5); m > 0; m--) {
          scope.addMetrics(metric(random));
        }
        resource.addScopeMetrics(scope);
      }
      request.addResourceMetrics(resource);
    }
    return request.build();
  }

  private static Metric.Builder metric(Random random) {
    Metric.Builder metric =
        Metric.newBuilder()
            .setName(NAMES[random.nextInt(NAMES.length)])
            .setDescription("what it is")
            .setUnit("1");
    switch (random.nextInt(4)) {
      case 0 ->
          metric.setHistogram(
              Histogram.newBuilder()
                  .addDataPoints(HistogramDataPoint.newBuilder().setCount(3).setSum(1.5)));
      case 1 -> {
        for (int n = random.nextInt(4); n > 0; n--) {
          metric.getGaugeBuilder().addDataPoints(point(random));
        }
      }
      default -> {
        metric
            .getSumBuilder()
            .setAggregationTemporalityValue(random.nextInt(3))
            .setIsMonotonic(random.nextBoolean());
        for (int n = random.nextInt(4); n > 0; n--) {
          metric.getSumBuilder().addDataPoints(point(random));
        }
      }
    }
    return metric;
  }

  private static NumberDataPoint.Builder point(Random random) {
    NumberDataPoint.Builder point =
        NumberDataPoint.newBuilder()
            .setStartTimeUnixNano(random.nextLong())
            .setTimeUnixNano(random.nextLong())
            .setFlags(random.nextInt(3));
    switch (random.nextInt(3)) {
      case 0 -> point.setAsDouble(random.nextGaussian());
      case 1 -> point.setAsInt(random.nextLong());
      default -> {}
    }
    for (int n = random.nextInt(4); n > 0; n--) {
      point.addAttributes(
          attribute(KEYS[random.nextInt(KEYS.length)], VALUES[random.nextInt(VALUES.length)]));
    }
    return point;
  }
}
