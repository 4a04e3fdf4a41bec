package dev.sluice.resources;

import static dev.sluice.otlp.Metrics.counter;
import static dev.sluice.otlp.Metrics.gauge;
import static dev.sluice.otlp.Metrics.host;
import static dev.sluice.otlp.Metrics.message;
import static dev.sluice.otlp.Metrics.pod;
import static dev.sluice.otlp.Metrics.point;
import static dev.sluice.otlp.Metrics.resource;
import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.accounting.Validity;
import dev.sluice.bounds.Limits;
import dev.sluice.bounds.MetricBounds;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MetricMessageReaderTest {
  private static final long RECEIVED_MS = MIDNIGHT_MS + 30_000;
  private static final long DAY_MS = 86_400_000;

  /** Points, sum, smallest, largest, first and last time in ms after midnight. */
  private record Row(long points, long sum, long least, long most, long firstMs, long lastMs) {}

  private final MetricMessageReader reader =
      new MetricMessageReader(
          new Validity(7 * DAY_MS, 600_000, 60_000),
          10_000,
          new MetricBounds(new Limits(60_000, 9, 2, 2, 9, 9, 5, 9)),
          (service, route) -> false);

  /** "host instance role kind start window": start and window in ms after midnight. */
  private Map<String, Row> rows(byte[] message) {
    return rows(message, RECEIVED_MS);
  }

  private Map<String, Row> rows(byte[] message, long receivedMs) {
    reader.read(message, 0, receivedMs);
    Map<String, Row> rows = new TreeMap<>();
    reader.forEach(
        (key, sums) ->
            rows.put(
                String.format(
                    "%s %s %s %s %d %d",
                    key.host(),
                    key.instance(),
                    key.role().label(),
                    key.kind().label(),
                    key.startNs() / MS,
                    key.windowMs() - MIDNIGHT_MS),
                new Row(
                    sums.points(),
                    sums.sum(),
                    sums.smallest(),
                    sums.largest(),
                    sums.firstNs() / MS - MIDNIGHT_MS,
                    sums.lastNs() / MS - MIDNIGHT_MS)));
    return rows;
  }

  private Map<String, List<Long>> counts() {
    Map<String, List<Long>> counts = new TreeMap<>();
    reader
        .counts()
        .forEach(
            (key, sums) ->
                counts.put(key.outcome().label(), List.of(sums.messages(), sums.spans())));
    return counts;
  }

  private List<String> reasons() {
    return reader.deadLetters().stream().map(letter -> letter.reason().label()).toList();
  }

  @Test
  void levelsAreSummedByWindowInTheirSmallestUnit() {
    byte[] message =
        message(
            pod(
                "main",
                gauge(
                    "container.cpu.usage",
                    point(0.5, 1_000),
                    point(0.25, 9_999),
                    point(2, 10_000))));
    assertThat(rows(message))
        .isEqualTo(
            Map.of(
                "node-1 cart-0 container_cpu level 0 0",
                new Row(2, 750_000_000, 250_000_000, 500_000_000, 1_000, 9_999),
                "node-1 cart-0 container_cpu level 0 10000",
                new Row(1, 2_000_000_000, 2_000_000_000, 2_000_000_000, 10_000, 10_000)));
    assertThat(counts()).isEqualTo(Map.of("accepted", List.of(0L, 3L)));
  }

  @Test
  void aCounterKeepsItsFirstAndLastReadingForEachStart() {
    byte[] message =
        message(
            host(
                counter(
                    "system.network.io",
                    point(900, 8_000).setStartTimeUnixNano(5 * MS),
                    point(400, 2_000).setStartTimeUnixNano(5 * MS),
                    point(30, 9_000).setStartTimeUnixNano(8 * MS))));
    assertThat(rows(message))
        .isEqualTo(
            Map.of(
                "node-1  host_network counter 5 0", new Row(2, 0, 400, 900, 2_000, 8_000),
                "node-1  host_network counter 8 0", new Row(1, 0, 30, 30, 9_000, 9_000)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"jvm.cpu.time", "dotnet.process.cpu.time"})
  void aProcessInNoContainerTellsItsCpuItself(String metric) {
    byte[] message = message(pod("", counter(metric, point(1.5, 1_000), point(2, 9_000))));
    assertThat(rows(message))
        .isEqualTo(
            Map.of(
                "node-1 cart-0 container_cpu counter 0 0",
                new Row(2, 0, 1_500_000_000, 2_000_000_000, 1_000, 9_000)));
  }

  @Test
  void aMalformedMessageGivesOneLetterAndNoRows() {
    byte[] good = message(host(gauge("system.memory.bandwidth", point(5, 0))));
    for (byte[] bad : new byte[][] {Arrays.copyOf(good, good.length - 1), null}) {
      assertThat(rows(bad)).isEmpty();
      assertThat(counts()).isEqualTo(Map.of("malformed_message", List.of(1L, 0L)));
      assertThat(reasons()).containsExactly("malformed_message");
    }
    assertThat(rows(good)).hasSize(1);
  }

  @Test
  void aPointOfNobodyIsALetterAndItsNeighboursCount() {
    byte[] message =
        message(
            resource(List.of(), gauge("system.memory.bandwidth", point(5, 0))),
            resource(
                List.of(attribute("k8s.node.name", "node-1")),
                gauge("container.cpu.usage", point(5, 0)),
                gauge("system.memory.bandwidth", point(5, 0))));
    assertThat(rows(message)).containsOnlyKeys("node-1  host_memory_bandwidth level 0 0");
    assertThat(counts())
        .isEqualTo(Map.of("accepted", List.of(0L, 1L), "missing_identity", List.of(0L, 2L)));
    assertThat(reasons()).containsExactly("missing_identity", "missing_identity");
  }

  private static byte[] bandwidthOf(String... hosts) {
    return message(
        Arrays.stream(hosts)
            .map(
                host ->
                    resource(
                        List.of(attribute("host.name", host)),
                        gauge("system.memory.bandwidth", point(5, 0))))
            .toArray(ResourceMetrics[]::new));
  }

  @Test
  void hostsBeyondTheBoundAreOneWithoutASum() {
    assertThat(rows(bandwidthOf("a", "b", "c", "d")))
        .isEqualTo(
            Map.of(
                "a  host_memory_bandwidth level 0 0", new Row(1, 5, 5, 5, 0, 0),
                "b  host_memory_bandwidth level 0 0", new Row(1, 5, 5, 5, 0, 0),
                "(more)  host_memory_bandwidth level 0 0", new Row(2, 0, 5, 5, 0, 0)));
    assertThat(counts())
        .isEqualTo(Map.of("accepted", List.of(0L, 2L), "accepted_more", List.of(0L, 2L)));
    assertThat(reasons()).isEmpty();
  }

  @Test
  void aHostHasItsPlaceUntilAWholeWindowWithoutIt() {
    rows(bandwidthOf("a", "b"));
    assertThat(rows(bandwidthOf("c", "a"), RECEIVED_MS + 60_000))
        .containsOnlyKeys(
            "a  host_memory_bandwidth level 0 0", "(more)  host_memory_bandwidth level 0 0");
    assertThat(rows(bandwidthOf("c", "b"), RECEIVED_MS + 120_000))
        .containsOnlyKeys(
            "c  host_memory_bandwidth level 0 0", "(more)  host_memory_bandwidth level 0 0");
  }

  @Test
  void startsOfACounterBeyondTheBoundOfSeriesAreOneOfTheSameHost() {
    var points =
        IntStream.rangeClosed(1, 7)
            .mapToObj(n -> point(10 * n, 1_000).setStartTimeUnixNano(n * MS))
            .toArray(NumberDataPoint.Builder[]::new);
    assertThat(rows(message(host(counter("system.network.io", points)))))
        .hasSize(6)
        .containsEntry("node-1  host_network counter 5 0", new Row(1, 0, 50, 50, 1_000, 1_000))
        .containsEntry("node-1  host_network counter 0 0", new Row(2, 0, 60, 70, 1_000, 1_000));
    assertThat(counts())
        .isEqualTo(Map.of("accepted", List.of(0L, 5L), "accepted_more", List.of(0L, 2L)));
  }

  @Test
  void ofManyBadPointsTenLettersAreKeptAndAllAreCounted() {
    var points =
        IntStream.range(0, 12).mapToObj(n -> point(-1, n)).toArray(NumberDataPoint.Builder[]::new);
    assertThat(rows(message(host(gauge("system.memory.bandwidth", points))))).isEmpty();
    assertThat(counts()).isEqualTo(Map.of("value_out_of_range", List.of(0L, 12L)));
    assertThat(reasons()).hasSize(10);
    assertThat(reader.deadLetters().get(9).detail()).endsWith("; 2 more in this message");
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1e-6, Double.NaN, Double.POSITIVE_INFINITY, 1e30})
  void aValueThatCannotBeIsALetter(double value) {
    assertThat(rows(message(pod("main", gauge("container.cpu.usage", point(value, 0)))))).isEmpty();
    assertThat(reasons()).containsExactly("value_out_of_range");
    assertThat(rows(message(pod("main", counter("container.cpu.time", point(value, 0))))))
        .isEmpty();
    assertThat(reasons()).containsExactly("value_out_of_range");
  }

  @ParameterizedTest
  @ValueSource(longs = {-8 * DAY_MS, DAY_MS})
  void aTimeOutOfRangeIsALetter(long atMs) {
    byte[] message = message(host(gauge("system.memory.bandwidth", point(5, atMs))));
    assertThat(rows(message)).isEmpty();
    assertThat(reasons()).containsExactly("clock_out_of_range");
  }

  /** "service instance pool peer figure series kind window". */
  private Map<String, Row> poolRows(byte[] message) {
    reader.read(message, 0, RECEIVED_MS);
    Map<String, Row> rows = new TreeMap<>();
    reader.forEachPool(
        (key, sums) ->
            rows.put(
                String.join(
                    " ",
                    key.service(),
                    key.instance(),
                    key.side().label(),
                    key.pool(),
                    key.peer(),
                    key.figure().label(),
                    key.kind().label(),
                    Long.toString(key.windowMs() - MIDNIGHT_MS)),
                new Row(
                    sums.points(),
                    sums.sum(),
                    sums.smallest(),
                    sums.largest(),
                    sums.firstNs() / MS - MIDNIGHT_MS,
                    sums.lastNs() / MS - MIDNIGHT_MS)));
    return rows;
  }

  private static ResourceMetrics shop(Metric... metrics) {
    return resource(
        List.of(attribute("service.name", "shop"), attribute("service.instance.id", "shop-1")),
        metrics);
  }

  @Test
  void figuresOfPoolsAreSummedByWindow() {
    byte[] message =
        message(
            shop(
                gauge(
                    "hikaricp.connections.max",
                    point(10, 1_000, attribute("pool", "db:5432/shop")),
                    point(12, 9_000, attribute("pool", "db:5432/shop"))),
                counter(
                    "hikaricp.connections.timeout",
                    point(3, 2_000, attribute("pool", "p")),
                    point(5, 8_000, attribute("pool", "p")))));
    assertThat(poolRows(message))
        .isEqualTo(
            Map.of(
                "shop shop-1 client db:5432/shop db/shop size level 0",
                new Row(2, 22, 10, 12, 1_000, 9_000),
                "shop shop-1 client p  timeouts counter 0",
                new Row(2, 0, 3, 5, 2_000, 8_000)));
    assertThat(counts()).isEqualTo(Map.of("accepted", List.of(0L, 4L)));
  }

  @Test
  void badFiguresOfPoolsAreLetters() {
    String max = "hikaricp.connections.max";
    byte[] message =
        message(
            shop(
                gauge(
                    max,
                    point(-2, 0),
                    point(0.4, 0),
                    point(1e7, 1),
                    point(5, -8 * DAY_MS),
                    point(Double.POSITIVE_INFINITY, 2)),
                gauge("hikaricp.connections.timeout", point(4, 3))),
            resource(List.of(), gauge(max, point(5, 4))));
    assertThat(poolRows(message)).isEmpty();
    assertThat(reasons())
        .containsExactly(
            "value_out_of_range",
            "value_out_of_range",
            "value_out_of_range",
            "clock_out_of_range",
            "value_out_of_range",
            "value_out_of_range",
            "missing_service");
  }

  @Test
  void seriesOfPoolsBeyondTheLimitCountAsTheRest() {
    Metric[] metrics =
        IntStream.range(0, 7)
            .mapToObj(
                n -> gauge("hikaricp.connections.max", point(n + 1, 0, attribute("pool", "p" + n))))
            .toArray(Metric[]::new);
    Map<String, Row> rows = poolRows(message(shop(metrics)));
    assertThat(rows).hasSize(6); // 5 series have room
    assertThat(rows.get("shop shop-1 client (more)  size level 0").points()).isEqualTo(2);
    assertThat(counts())
        .isEqualTo(Map.of("accepted", List.of(0L, 5L), "accepted_more", List.of(0L, 2L)));
  }
}
