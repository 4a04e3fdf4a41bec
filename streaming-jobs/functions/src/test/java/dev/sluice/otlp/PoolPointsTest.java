package dev.sluice.otlp;

import static dev.sluice.otlp.Metrics.gauge;
import static dev.sluice.otlp.Metrics.message;
import static dev.sluice.otlp.Metrics.point;
import static dev.sluice.otlp.Metrics.resource;
import static dev.sluice.otlp.Metrics.sum;
import static dev.sluice.otlp.Requests.attribute;
import static io.opentelemetry.proto.metrics.v1.AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE;
import static io.opentelemetry.proto.metrics.v1.AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA;
import static io.opentelemetry.proto.metrics.v1.AggregationTemporality.AGGREGATION_TEMPORALITY_UNSPECIFIED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import dev.sluice.otlp.MetricPoint.Kind;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.ExponentialHistogram;
import io.opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.Summary;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoolPointsTest {
  private static final String WAIT = "db.client.connection.wait_time";
  private static final AggregationTemporality CUMULATIVE = AGGREGATION_TEMPORALITY_CUMULATIVE;

  private final MetricsRequestDecoder decoder =
      new MetricsRequestDecoder((service, route) -> false);

  private List<PoolPoint> points(Metric... metrics) throws MalformedMessageException {
    List<PoolPoint> points = new ArrayList<>();
    decoder.decode(of(metrics), point -> {}, points::add);
    return points;
  }

  private static byte[] of(Metric... metrics) {
    return message(
        resource(
            List.of(attribute("service.name", "shop"), attribute("service.instance.id", "shop-1")),
            metrics));
  }

  private static Metric histogram(String unit, AggregationTemporality temporality) {
    return Metric.newBuilder()
        .setName(WAIT)
        .setUnit(unit)
        .setHistogram(
            Histogram.newBuilder()
                .setAggregationTemporality(temporality)
                .addDataPoints(
                    HistogramDataPoint.newBuilder()
                        .setStartTimeUnixNano(5)
                        .setTimeUnixNano(9)
                        .setCount(4)
                        .setSum(1.5)
                        .addAttributes(attribute("db.client.connection.pool.name", "db:5432/x"))))
        .build();
  }

  @Test
  void aSizeHasServiceInstancePoolAndPeer() throws Exception {
    PoolPoint got =
        points(
                sum(
                    "db.client.connections.max",
                    CUMULATIVE,
                    false,
                    point(10, 7, attribute("pool.name", "db:5432/shop"))))
            .get(0);
    assertThat(got)
        .isEqualTo(
            new PoolPoint(
                PoolFigure.SIZE,
                PoolSide.CLIENT,
                3,
                "shop",
                "shop-1",
                "db:5432/shop",
                "db/shop",
                "db.client.connections.max pool.name=db:5432/shop",
                Kind.LEVEL,
                0,
                (Requests.MIDNIGHT_MS + 7) * Requests.MS,
                10));
  }

  @ParameterizedTest
  @CsvSource({
    "db.client.connection.limit, db.client.connection.pool.name=orders, SIZE, CLIENT, orders",
    "tomcat.thread.limit, tomcat.thread.pool.name=\"http-nio-8080\", SIZE, SERVER, http-nio-8080",
    "db.client.connection.count, db.client.connection.state=used, USED, CLIENT, ''",
    "db.client.connection.count, db.client.connection.state=idle, IDLE, CLIENT, ''",
    "db.client.connections.usage, state=used, USED, CLIENT, ''",
    "hikaricp.connections.max, pool=HikariPool-1, SIZE, CLIENT, HikariPool-1",
    "hikaricp.connections.pending, pool=HikariPool-1, PENDING, CLIENT, HikariPool-1",
    "jdbc.connections.max, name=dataSource, SIZE, CLIENT, dataSource",
    "db.sql.connection.open, status=inuse, USED, CLIENT, ''",
    "tomcat.thread.limit, tomcat.thread.pool.name=http-nio-8080, SIZE, SERVER, http-nio-8080",
    "tomcat.threads.config.max, name=http-nio-8080, SIZE, SERVER, http-nio-8080",
    "jetty.thread.queue.size, a=b, PENDING, SERVER, ''",
    "jvm.executor.thread.count, jvm.executor.thread.state=active, USED, EXECUTOR, ''",
    "executor.pool.max, name=mail, SIZE, EXECUTOR, mail",
    "dotnet.thread_pool.queue.length, a=b, PENDING, EXECUTOR, ''",
  })
  void oldAndNewNamesAreOneFigure(
      String metric, String attribute, PoolFigure figure, PoolSide side, String pool)
      throws Exception {
    String[] pair = attribute.split("=");
    PoolPoint got = points(gauge(metric, point(3, 0, attribute(pair[0], pair[1])))).get(0);
    assertThat(got.figure()).isEqualTo(figure);
    assertThat(got.side()).isEqualTo(side);
    assertThat(got.pool()).isEqualTo(pool);
    assertThat(got.value()).isEqualTo(3);
  }

  @Test
  void aConnectionOfAnotherStateIsNoFigure() throws Exception {
    assertThat(points(gauge("db.client.connections.usage", point(3, 0, attribute("state", "bad")))))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1, Double.NaN})
  void aFigureThatTheSenderDoesNotKnowIsNone(double value) throws Exception {
    assertThat(points(gauge("tomcat.threads.config.max", point(value, 0)))).isEmpty();
  }

  @Test
  void theLargestIntIsNoLimit() throws Exception {
    assertThat(points(gauge("executor.pool.max", point(Integer.MAX_VALUE, 0))).get(0).value())
        .isZero();
    assertThat(points(gauge("executor.queued", point(Integer.MAX_VALUE, 0))).get(0).value())
        .isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void aMetricOfAKindThatItsFigureCannotHaveGivesNaN() throws Exception {
    String size = "db.client.connection.max";
    String timeouts = "db.client.connection.timeouts";
    assertThat(
            points(
                sum(size, CUMULATIVE, true, point(1, 0)),
                sum(size, AGGREGATION_TEMPORALITY_DELTA, false, point(1, 0)),
                sum(size, AGGREGATION_TEMPORALITY_UNSPECIFIED, false, point(1, 0)),
                gauge(timeouts, point(1, 0)),
                sum(timeouts, AGGREGATION_TEMPORALITY_UNSPECIFIED, true, point(1, 0))))
        .hasSize(5)
        .extracting(PoolPoint::value)
        .containsOnly(Double.NaN);
  }

  @Test
  void sumsAreCumulativeOrDelta() throws Exception {
    String timeouts = "db.client.connection.timeouts";
    List<PoolPoint> got =
        points(
            sum(timeouts, CUMULATIVE, true, point(8, 0).setStartTimeUnixNano(5)),
            sum(
                timeouts,
                AGGREGATION_TEMPORALITY_DELTA,
                true,
                point(2, 0).setStartTimeUnixNano(5)));
    assertThat(got).extracting(PoolPoint::kind).containsExactly(Kind.COUNTER, Kind.DELTA);
    assertThat(got).extracting(PoolPoint::startNs).containsExactly(5L, 0L);
    assertThat(got).extracting(PoolPoint::value).containsExactly(8.0, 2.0);
  }

  @ParameterizedTest
  @CsvSource({"s, 1.5", "ms, 0.0015", "'', 1.5", "milliseconds, 0.0015", "ns, 0.0000000015"})
  void aHistogramGivesTheTimeInItsUnitAndTheNumber(String unit, double seconds) throws Exception {
    List<PoolPoint> got = points(histogram(unit, CUMULATIVE));
    assertThat(got)
        .extracting(PoolPoint::figure)
        .containsExactly(PoolFigure.WAIT_TIME, PoolFigure.WAITS);
    assertThat(got.get(0).value()).isEqualTo(seconds, offset(1e-15));
    assertThat(got.get(1).value()).isEqualTo(4);
    assertThat(got).extracting(PoolPoint::kind).containsOnly(Kind.COUNTER);
    assertThat(got).extracting(PoolPoint::startNs).containsOnly(5L);
    assertThat(got).extracting(PoolPoint::timeNs).containsOnly(9L);
    assertThat(got).extracting(PoolPoint::peer).containsOnly("db/x");
  }

  @Test
  void anUnknownUnitOrTemporalityGivesNaN() throws Exception {
    assertThat(points(histogram("fortnights", CUMULATIVE)).get(0).value()).isNaN();
    assertThat(points(histogram("s", AGGREGATION_TEMPORALITY_UNSPECIFIED)))
        .extracting(PoolPoint::value)
        .containsOnly(Double.NaN);
  }

  @Test
  void exponentialHistogramsAndSummariesAreReadAlike() throws Exception {
    var exponential =
        ExponentialHistogramDataPoint.newBuilder()
            .setCount(3)
            .setSum(0.5)
            .addAttributes(attribute("pool", "p"));
    var summary =
        SummaryDataPoint.newBuilder()
            .setCount(2)
            .setSum(250)
            .addAttributes(attribute("pool", "p"))
            .addQuantileValues(SummaryDataPoint.ValueAtQuantile.newBuilder().setQuantile(0.5));
    List<PoolPoint> got =
        points(
            Metric.newBuilder()
                .setName("hikaricp.connections.acquire")
                .setUnit("s")
                .setExponentialHistogram(
                    ExponentialHistogram.newBuilder()
                        .setAggregationTemporality(AGGREGATION_TEMPORALITY_DELTA)
                        .addDataPoints(exponential))
                .build(),
            Metric.newBuilder()
                .setName("hikaricp.connections.usage")
                .setSummary(Summary.newBuilder().addDataPoints(summary))
                .build());
    assertThat(got).extracting(PoolPoint::value).containsExactly(0.5, 3.0, 0.25, 2.0);
    assertThat(got)
        .extracting(PoolPoint::kind)
        .containsExactly(Kind.DELTA, Kind.DELTA, Kind.COUNTER, Kind.COUNTER);
    assertThat(got).extracting(PoolPoint::pool).containsOnly("p");
  }

  @Test
  void withoutASumOnlyTheNumberIsKnown() throws Exception {
    Metric metric =
        Metric.newBuilder()
            .setName(WAIT)
            .setHistogram(
                Histogram.newBuilder()
                    .setAggregationTemporality(CUMULATIVE)
                    .addDataPoints(HistogramDataPoint.newBuilder().setCount(4)))
            .build();
    assertThat(points(metric)).extracting(PoolPoint::figure).containsExactly(PoolFigure.WAITS);
  }

  @Test
  void aPointWithoutAValueIsNone() throws Exception {
    assertThat(points(gauge("hikaricp.connections.max", point(1, 0).setFlags(1)))).isEmpty();
  }

  @Test
  void truncatedAtEveryByteItIsMalformedOrShorter() throws Exception {
    byte[] message = of(histogram("s", CUMULATIVE));
    for (int length = 1; length < message.length; length++) {
      byte[] cut = Arrays.copyOf(message, length);
      try {
        decoder.decode(cut, point -> {}, point -> {});
        assertThat(length).as("no prefix but the whole is a message").isZero();
      } catch (MalformedMessageException e) {
        assertThat(e.getMessage()).isNotBlank();
      }
    }
  }
}
