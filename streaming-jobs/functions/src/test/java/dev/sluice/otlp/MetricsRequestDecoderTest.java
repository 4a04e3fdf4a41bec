package dev.sluice.otlp;

import static dev.sluice.otlp.Metrics.counter;
import static dev.sluice.otlp.Metrics.gauge;
import static dev.sluice.otlp.Metrics.host;
import static dev.sluice.otlp.Metrics.message;
import static dev.sluice.otlp.Metrics.pod;
import static dev.sluice.otlp.Metrics.point;
import static dev.sluice.otlp.Metrics.sum;
import static dev.sluice.otlp.Requests.attribute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedOutputStream;
import dev.sluice.otlp.MetricPoint.Kind;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MetricsRequestDecoderTest {
  private final MetricsRequestDecoder decoder =
      new MetricsRequestDecoder((service, route) -> false);

  private List<MetricPoint> points(byte[] message) throws MalformedMessageException {
    List<MetricPoint> points = new ArrayList<>();
    decoder.decode(message, points::add, pool -> {});
    return points;
  }

  @ParameterizedTest
  @CsvSource({
    "system.cpu.utilization, state=idle, HOST_CPU_IDLE, 1, 0.5",
    "system.cpu.utilization, cpu.mode=idle, HOST_CPU_IDLE, 1, 0.5",
    "cpu.utilization, cpu.mode=idle, HOST_CPU_IDLE, 1, 0.5",
    "system.cpu.time, state=idle, HOST_CPU_IDLE, 2, 0.5",
    "k8s.node.cpu.usage, a=b, HOST_CPU_USED, 1, 0.5",
    "k8s.node.cpu.utilization, a=b, HOST_CPU_USED, 2, 0.5",
    "k8s.node.allocatable_cpu, a=b, HOST_CPU_CORES, 3, 0.5",
    "system.memory.bandwidth, a=b, HOST_MEMORY_BANDWIDTH, 1, 0.5",
    "system.memory.bandwidth.utilization, a=b, HOST_MEMORY_BANDWIDTH_UTILIZATION, 1, 0.5",
    "system.network.io, device=eth0, HOST_NETWORK, 1, 0.5",
    "system.network.io, network.interface.name=eth0, HOST_NETWORK, 1, 0.5",
    "container.cpu.usage, a=b, CONTAINER_CPU, 1, 0.5",
    "container.cpu.utilization, a=b, CONTAINER_CPU, 4, 0.5",
    "container.cpu.usage.total, a=b, CONTAINER_CPU, 3, 0.0000000005",
    "k8s.pod.cpu.usage, a=b, CONTAINER_CPU, 5, 0.5",
    "k8s.container.cpu.limit, a=b, CONTAINER_CPU_LIMIT, 3, 0.5",
    "k8s.container.cpu_limit, a=b, CONTAINER_CPU_LIMIT, 4, 0.5",
    "otelcol_receiver_accepted_spans, transport=grpc, COLLECTOR_SPANS_ACCEPTED, 1, 0.5",
    "otelcol_receiver_refused_spans, transport=grpc, COLLECTOR_SPANS_REFUSED, 1, 0.5",
    "otelcol_exporter_sent_spans, exporter=kafka, COLLECTOR_SPANS_SENT, 1, 0.5",
    "otelcol_exporter_send_failed_spans, exporter=kafka, COLLECTOR_SPANS_FAILED, 1, 0.5",
    "otelcol_exporter_queue_size, data_type=traces, COLLECTOR_QUEUE, 1, 0.5",
  })
  void oldAndNewNamesAreOneRole(
      String metric, String attribute, MetricRole role, int rank, double value) throws Exception {
    String[] pair = attribute.split("=");
    byte[] message =
        message(pod("main", gauge(metric, point(0.5, 7, attribute(pair[0], pair[1])))));
    MetricPoint got = points(message).get(0);
    assertThat(got.role()).isEqualTo(role);
    assertThat(got.rank()).isEqualTo(rank);
    assertThat(got.value()).isEqualTo(value);
    assertThat(got.host()).isEqualTo("node-1");
    assertThat(got.instance()).isEqualTo(role.isOfHost() ? "" : "cart-0");
    assertThat(got.timeNs()).isEqualTo((Requests.MIDNIGHT_MS + 7) * Requests.MS);
  }

  @ParameterizedTest
  @CsvSource({
    "system.cpu.utilization, state=user",
    "system.cpu.utilization, cpu.mode=user",
    "otelcol_exporter_sent_spans, exporter=otlp_grpc",
    "otelcol_exporter_queue_size, data_type=metrics",
    "system.cpu.utilization, a=idle",
    "system.network.io, device=lo",
    "system.network.io, network.interface.name=lo",
    "system.memory.utilization, state=free",
    "process.cpu.time, state=idle",
  })
  void aMetricOutsideTheTableIsNotRead(String metric, String attribute) throws Exception {
    String[] pair = attribute.split("=");
    byte[] message = message(host(gauge(metric, point(0.5, 7, attribute(pair[0], pair[1])))));
    assertThat(points(message)).isEmpty();
  }

  @Test
  void kindFollowsTemporalityAndMonotony() throws Exception {
    var cumulative = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE;
    var delta = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA;
    String metric = "container.cpu.time";
    byte[] message =
        message(
            pod(
                "main",
                gauge(metric, point(1, 0)),
                sum(metric, cumulative, false, point(2, 0)),
                sum(metric, cumulative, true, point(3, 0).setStartTimeUnixNano(5)),
                sum(metric, delta, true, point(4, 0))));
    assertThat(points(message))
        .extracting(MetricPoint::kind)
        .containsExactly(Kind.LEVEL, Kind.LEVEL, Kind.COUNTER, Kind.DELTA);
    assertThat(points(message).get(2).startNs()).isEqualTo(5);
  }

  @Test
  void seriesAreToldByTheirAttributesInAnyOrder() throws Exception {
    KeyValue in = attribute("direction", "receive");
    KeyValue eth0 = attribute("device", "eth0");
    List<MetricPoint> points =
        points(
            message(
                host(counter("system.network.io", point(1, 0, in, eth0), point(2, 9, eth0, in)))));
    assertThat(points)
        .extracting(MetricPoint::series)
        .containsOnly("system.network.io device=eth0,direction=receive");
  }

  @Test
  void containersOfOnePodAreSeriesOfTheirOwn() throws Exception {
    byte[] message =
        message(
            pod("main", gauge("container.cpu.usage", point(0.5, 0))),
            pod("proxy", gauge("container.cpu.usage", point(0.1, 0))));
    assertThat(points(message))
        .extracting(MetricPoint::series)
        .containsExactly(
            "container.cpu.usage k8s.container.name=main",
            "container.cpu.usage k8s.container.name=proxy");
  }

  @Test
  void longSeriesAreCutButStayApart() throws Exception {
    List<String> series = new ArrayList<>();
    for (String end : List.of("a", "b")) {
      byte[] message =
          message(
              host(
                  gauge(
                      "system.memory.bandwidth",
                      point(1, 0, attribute("a", "x".repeat(250)), attribute("b", end)))));
      series.add(points(message).get(0).series());
    }
    assertThat(series.get(0)).hasSizeLessThan(260).isNotEqualTo(series.get(1));
  }

  @Test
  void wholeNumbersAndPointsWithoutValue() throws Exception {
    var whole = NumberDataPoint.newBuilder().setAsInt(3);
    var none = NumberDataPoint.newBuilder().setFlags(1);
    byte[] message = message(host(gauge("system.cpu.logical.count", whole, none)));
    assertThat(points(message)).extracting(MetricPoint::value).containsExactly(3.0);
  }

  @Test
  void numbersAndBooleansAreAttributesToo() throws Exception {
    KeyValue number =
        KeyValue.newBuilder()
            .setKey("cpu.logical_number")
            .setValue(AnyValue.newBuilder().setIntValue(3))
            .build();
    byte[] message =
        message(
            host(gauge("system.cpu.utilization", point(1, 0, number, attribute("state", "idle")))));
    assertThat(points(message))
        .extracting(MetricPoint::series)
        .containsExactly("system.cpu.utilization cpu.logical_number=3,state=idle");
  }

  @Test
  void fieldsMayStandInAnyOrder() throws Exception {
    // Scope before resource, points before their sum's temporality, data before the name.
    byte[] point = point(0.5, 7).build().toByteArray();
    byte[] sum = join(field(1, point), new byte[] {2 << 3, 2, 3 << 3, 1});
    byte[] metric = join(field(7, sum), field(1, "container.cpu.time".getBytes()));
    byte[] resource = pod("main").getResource().toByteArray();
    byte[] message = field(1, join(field(2, field(2, metric)), field(1, resource)));
    MetricPoint got = points(message).get(0);
    assertThat(got.kind()).isEqualTo(Kind.COUNTER);
    assertThat(got.instance()).isEqualTo("cart-0");
    assertThat(got.role()).isEqualTo(MetricRole.CONTAINER_CPU);
  }

  @Test
  void truncatedAtEveryByteItIsMalformedOrShorter() throws Exception {
    byte[] message =
        message(
            host(
                counter(
                    "system.cpu.time",
                    point(1, 0, attribute("state", "idle")).setFlags(0),
                    point(2, 9, attribute("state", "idle")))),
            pod("main", gauge("container.cpu.usage", point(0.5, 0))));
    int whole = 0;
    for (int length = 0; length < message.length; length++) {
      byte[] cut = Arrays.copyOf(message, length);
      try {
        decoder.decode(cut, point -> {}, pool -> {});
        whole++;
      } catch (MalformedMessageException e) {
        assertThat(e.getMessage()).isNotBlank();
      }
    }
    // Nothing, or exactly one of the two resources.
    assertThat(whole).isEqualTo(2);
    assertThat(points(message)).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({
    // path of field numbers to the field, wrong wire type
    "1, 0",
    "1/1, 0",
    "1/2, 5",
    "1/2/2, 1",
    "1/2/2/1, 0",
    "1/2/2/5, 0",
    "1/2/2/7, 1",
    "1/2/2/7/2, 1",
    "1/2/2/7/3, 5",
    "1/2/2/5/1, 0",
    "1/2/2/5/1/2, 0",
    "1/2/2/5/1/3, 5",
    "1/2/2/5/1/4, 2",
    "1/2/2/5/1/6, 0",
    "1/2/2/5/1/7, 0",
    "1/2/2/5/1/8, 1",
    "1/1/1, 0",
    "1/1/1/1, 0",
    "1/1/1/2, 0",
  })
  void wrongWireTypesAreMalformed(String path, int wireType) {
    String[] fields = path.split("/");
    byte[] value =
        switch (wireType) {
          case 0 -> new byte[] {1};
          case 1 -> new byte[8];
          case 2 -> new byte[] {1, 0};
          default -> new byte[4];
        };
    int last = Integer.parseInt(fields[fields.length - 1]);
    byte[] message = join(new byte[] {(byte) (last << 3 | wireType)}, value);
    byte[] name = field(1, "container.cpu.usage".getBytes());
    for (int i = fields.length - 2; i >= 0; i--) {
      boolean insideMetric =
          i == 2 && fields.length > 4 || i == 2 && fields.length == 4 && last != 1;
      message = field(Integer.parseInt(fields[i]), insideMetric ? join(name, message) : message);
    }
    byte[] bad = message;
    assertThatThrownBy(() -> points(bad))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("wire type");
  }

  private static byte[] field(int number, byte[] content) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      out.writeByteArray(number, content);
      out.flush();
      return bytes.toByteArray();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static byte[] join(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
