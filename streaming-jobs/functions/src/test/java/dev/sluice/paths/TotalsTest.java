package dev.sluice.paths;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.latency.LatencyIndex;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Sums by hand, and that neither order nor grouping nor a stay in Flink's state changes them. */
class TotalsTest {
  private static final long MS = 1_000_000;

  private record Part(long selfNs, long upstreamNs, long durationNs, byte[] traceId) {
    ServiceTime time() {
      return new ServiceTime("s", selfNs, upstreamNs, upstreamNs / 2, selfNs / 2, 2 * selfNs);
    }
  }

  private static byte[] id(int number) {
    byte[] id = new byte[16];
    id[0] = (byte) number; // 0x80 and more are the larger ones: ids are unsigned
    return id;
  }

  private static String hex(String first) {
    return first + "0".repeat(30);
  }

  private static PathTotals paths(List<Part> parts) {
    PathTotals totals = new PathTotals();
    parts.forEach(part -> totals.add(part.durationNs, part.traceId));
    return totals;
  }

  private static ServiceTotals services(List<Part> parts) {
    ServiceTotals totals = new ServiceTotals();
    parts.forEach(part -> totals.add(part.time(), part.durationNs));
    return totals;
  }

  @Test
  void pathsByHand() {
    PathTotals totals = new PathTotals();
    totals.add(10 * MS, id(0xB0));
    totals.add(70 * MS, id(1));
    totals.add(10 * MS, id(0x0A));
    assertThat(totals.traces()).isEqualTo(3);
    assertThat(totals.endToEnd().sumNs()).isEqualTo(90 * MS);
    // 100e12 + 4900e12 + 100e12
    assertThat(totals.endToEnd().squares()).isEqualTo(new BigDecimal("5100000000000000"));
    assertThat(totals.latency().toMap())
        .isEqualTo(
            Map.of(
                (short) LatencyIndex.of(10 * MS), 2,
                (short) LatencyIndex.of(70 * MS), 1));
    assertThat(totals.slowestNs()).isEqualTo(70 * MS);
    assertThat(totals.slowestTraceId()).isEqualTo(hex("01"));
    assertThat(totals.medianTraceId()).isEqualTo(hex("0a"));
  }

  @Test
  void ofEquallySlowTracesTheLargestIdStays() {
    PathTotals totals = new PathTotals();
    totals.add(5, id(0x7F));
    totals.add(5, id(0x80));
    totals.add(5, id(0x01));
    assertThat(totals.slowestTraceId()).isEqualTo(hex("80"));
    assertThat(totals.medianTraceId()).isEqualTo(hex("01"));
  }

  @Test
  void medianOfAnEvenNumberIsTheLowerOne() {
    PathTotals totals = new PathTotals();
    totals.add(1 * MS, id(1));
    totals.add(2 * MS, id(2));
    totals.add(3 * MS, id(3));
    totals.add(4 * MS, id(4));
    assertThat(totals.medianTraceId()).isEqualTo(hex("02"));
  }

  @Test
  void noPathsHaveNoExemplars() {
    PathTotals totals = new PathTotals();
    assertThat(totals.slowestTraceId()).isEmpty();
    assertThat(totals.medianTraceId()).isEmpty();
  }

  @Test
  void emptyPathsCount() {
    PathTotals totals = new PathTotals();
    totals.add(0, id(9));
    assertThat(totals.latency().toMap()).isEqualTo(Map.of((short) -1, 1));
    assertThat(totals.slowestTraceId()).isEqualTo(hex("09"));
  }

  @Test
  void servicesByHand() {
    // The example of the class comment, and 5, 6, 7 upstream, of which 1, 2, 4 are waits.
    ServiceTotals totals = new ServiceTotals();
    totals.add(new ServiceTime("s", 1, 5, 4, 1, 2), 10);
    totals.add(new ServiceTime("s", 2, 6, 4, 2, 4), 30);
    totals.add(new ServiceTime("s", 3, 7, 3, 4, 5), 20);
    assertThat(totals.traces()).isEqualTo(3);
    assertThat(totals.self().sumNs()).isEqualTo(6);
    assertThat(totals.self().squares()).isEqualTo(new BigDecimal(14));
    assertThat(totals.endToEnd().sumNs()).isEqualTo(60);
    assertThat(totals.endToEnd().squares()).isEqualTo(new BigDecimal(1400));
    assertThat(totals.selfByEndToEnd()).isEqualTo(new BigDecimal(130));
    assertThat(totals.upstream().sumNs()).isEqualTo(18);
    assertThat(totals.upstream().squares()).isEqualTo(new BigDecimal(25 + 36 + 49));
    assertThat(totals.selfLatency().toMap())
        .isEqualTo(Map.of((short) -1, 1, (short) 63, 1, (short) 101, 1));
    assertThat(totals.upstreamLatency().total()).isEqualTo(3);
    assertThat(totals.callUpstream().sumNs()).isEqualTo(11);
    assertThat(totals.waited().sumNs()).isEqualTo(7);
    assertThat(totals.blame().sumNs()).isEqualTo(11);
    assertThat(totals.blame().squares()).isEqualTo(new BigDecimal(4 + 16 + 25));
    assertThat(totals.blameByEndToEnd()).isEqualTo(new BigDecimal(20 + 120 + 100));
    // log2(3) * 64 = 101.4, log2(4) * 64 = 128: rounded up, less one.
    assertThat(totals.callUpstreamLatency().toMap())
        .isEqualTo(Map.of((short) 101, 1, (short) 127, 2));
    assertThat(totals.blameLatency().total()).isEqualTo(3);
  }

  @Test
  void sumsStayAtTheLargestRatherThanWrap() {
    Moments moments = new Moments();
    moments.add(Long.MAX_VALUE);
    moments.add(1);
    moments.add(Long.MAX_VALUE);
    assertThat(moments.sumNs()).isEqualTo(Long.MAX_VALUE);
  }

  @Property(tries = 300)
  void neitherOrderNorGroupingMatters(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    List<Part> parts = new ArrayList<>();
    for (int i = random.nextInt(60); i >= 0; i--) {
      // Few ids and durations, so that ties are frequent.
      long duration = random.nextInt(8) * (random.nextBoolean() ? 1 : MS);
      parts.add(new Part(duration / 2, duration / 3, duration, id(random.nextInt(256))));
    }
    List<Object> expected = all(paths(parts), services(parts));
    Collections.shuffle(parts, random);
    PathTotals paths = new PathTotals();
    ServiceTotals services = new ServiceTotals();
    for (int from = 0; from < parts.size(); ) {
      int to = from + 1 + random.nextInt(parts.size() - from);
      List<Part> group = parts.subList(from, to);
      paths.add(stored(paths(group)));
      services.add(stored(services(group)));
      paths = stored(paths);
      services = stored(services);
      from = to;
    }
    assertThat(all(paths, services)).isEqualTo(expected);
  }

  private static List<Object> all(PathTotals paths, ServiceTotals services) {
    return List.of(
        paths.traces(),
        paths.endToEnd().sumNs(),
        paths.endToEnd().squares(),
        paths.latency(),
        paths.slowestNs(),
        paths.slowestTraceId(),
        paths.medianTraceId(),
        services.traces(),
        services.self().sumNs(),
        services.self().squares(),
        services.endToEnd().sumNs(),
        services.endToEnd().squares(),
        services.upstream().sumNs(),
        services.upstream().squares(),
        services.callUpstream().sumNs(),
        services.waited().sumNs(),
        services.blame().sumNs(),
        services.blame().squares(),
        services.selfByEndToEnd(),
        services.blameByEndToEnd(),
        services.selfLatency(),
        services.upstreamLatency(),
        services.callUpstreamLatency(),
        services.blameLatency());
  }

  private static PathTotals stored(PathTotals totals) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    totals.write(new DataOutputStream(bytes));
    return PathTotals.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
  }

  private static ServiceTotals stored(ServiceTotals totals) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    totals.write(new DataOutputStream(bytes));
    return ServiceTotals.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
  }
}
