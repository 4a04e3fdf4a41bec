package dev.sluice.otlp;

import static dev.sluice.otlp.Metrics.message;
import static dev.sluice.otlp.Metrics.resource;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.intAttribute;
import static io.opentelemetry.proto.metrics.v1.AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.MetricPoint.Kind;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestCountsTest {
  private static HistogramDataPoint.Builder point(
      long startNs, long timeNs, long count, KeyValue... attributes) {
    return HistogramDataPoint.newBuilder()
        .setStartTimeUnixNano(startNs)
        .setTimeUnixNano(timeNs)
        .setCount(count)
        .addAllAttributes(List.of(attributes));
  }

  private static List<PoolPoint> points(String metric, HistogramDataPoint.Builder... points)
      throws MalformedMessageException {
    Histogram.Builder histogram =
        Histogram.newBuilder().setAggregationTemporality(AGGREGATION_TEMPORALITY_CUMULATIVE);
    for (HistogramDataPoint.Builder point : points) {
      histogram.addDataPoints(point);
    }
    List<PoolPoint> got = new ArrayList<>();
    new MetricsRequestDecoder(
            (service, route) -> service.equals("shop") && route.equals("/left-out"))
        .decode(
            message(
                resource(
                    List.of(
                        attribute("service.name", "shop"),
                        attribute("service.instance.id", "shop-1")),
                    Metric.newBuilder()
                        .setName(metric)
                        .setUnit("s")
                        .setHistogram(histogram)
                        .build(),
                    Metric.newBuilder().setName("http.server.active_requests").build())),
            other -> {},
            got::add);
    return got;
  }

  private static PoolPoint counted(PoolFigure figure, int rank, String metric, double count) {
    return new PoolPoint(
        figure, PoolSide.SERVER, rank, "shop", "shop-1", "", "", metric, Kind.COUNTER, 3, 9, count);
  }

  @Test
  void routesAndStatesAddUpToOneSeriesOfTheMetric() throws Exception {
    String metric = "http.server.request.duration";
    assertThat(
            points(
                metric,
                point(5, 9, 70, intAttribute("http.response.status_code", 200)),
                point(
                    5,
                    9,
                    4,
                    intAttribute("http.response.status_code", 404),
                    attribute("http.route", "/x")),
                point(
                    3,
                    9,
                    6,
                    intAttribute("http.response.status_code", 503),
                    attribute("error.type", "503"))))
        .containsExactly(
            counted(PoolFigure.REQUESTS, 1, metric, 80),
            counted(PoolFigure.FAILED_REQUESTS, 1, metric, 6));
  }

  @Test
  void requestsWhoseSpansAreLeftOutDoNotCount() throws Exception {
    String metric = "http.server.request.duration";
    assertThat(
            points(
                metric,
                point(3, 9, 70, attribute("http.route", "/x")),
                point(
                    3,
                    9,
                    50,
                    attribute("http.route", "/left-out"),
                    attribute("error.type", "503"))))
        .containsExactly(
            counted(PoolFigure.REQUESTS, 1, metric, 70),
            counted(PoolFigure.FAILED_REQUESTS, 1, metric, 0));
    assertThat(points("http.server.requests", point(3, 9, 2, attribute("uri", "/left-out"))))
        .containsExactly(
            counted(PoolFigure.REQUESTS, 3, "http.server.requests", 0),
            counted(PoolFigure.FAILED_REQUESTS, 3, "http.server.requests", 0));
  }

  @Test
  void olderNamesAndMicrometersCountToo() throws Exception {
    assertThat(points("http.server.requests", point(3, 9, 2, attribute("status", "500"))))
        .containsExactly(
            counted(PoolFigure.REQUESTS, 3, "http.server.requests", 2),
            counted(PoolFigure.FAILED_REQUESTS, 3, "http.server.requests", 2));
    assertThat(points("rpc.server.duration", point(3, 9, 2, attribute("error.type", "UNKNOWN"))))
        .extracting(PoolPoint::value)
        .containsExactly(2.0, 2.0);
    assertThat(points("http.server.duration", point(3, 9, 2)))
        .extracting(PoolPoint::value)
        .containsExactly(2.0, 0.0);
  }
}
