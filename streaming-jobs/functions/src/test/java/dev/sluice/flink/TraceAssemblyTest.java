package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.otlp.Span;
import dev.sluice.paths.PathTotals;
import dev.sluice.paths.ServiceTotals;
import dev.sluice.traces.Callees;
import java.lang.ref.Reference;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** Traces through the whole stage. */
class TraceAssemblyTest {
  private final Fed fed = new Fed();

  /** The broker took the message so many ms after midnight. */
  private void receive(long afterMs, byte[] message) {
    fed.receive(afterMs, message);
  }

  private static byte[] front() {
    return message(service("front", span(2, Span.CLIENT, 0, 20)));
  }

  private static byte[] cart() {
    return message(service("cart", span(3, Span.SERVER, 5, 15).setParentSpanId(id(2, 8))));
  }

  /** Calls by "caller>callee". */
  private Map<String, Long> calls() throws Exception {
    Map<String, Long> sums = new TreeMap<>();
    for (Row edge : rows("edge")) {
      sums.merge(
          edge.getField("caller") + ">" + edge.getField("callee"),
          edge.<Long>getFieldAs("calls"),
          Long::sum);
    }
    return sums;
  }

  /** What closed traces changed of the accounts: spans by "outcome service". */
  private Map<String, Long> recounted() throws Exception {
    Map<String, Long> sums = new TreeMap<>();
    for (Row counted : fed.rows(1, "recounted", "edge")) {
      sums.merge(
          counted.getField("outcome") + " " + counted.getField("service"),
          counted.<Long>getFieldAs("spans"),
          Long::sum);
    }
    return sums;
  }

  /** Counts of traces: "cause service at s after midnight: traces, spans". */
  private List<String> traceCounts() throws Exception {
    Map<String, long[]> sums = new TreeMap<>();
    for (Row count : rows("trace_count")) {
      long receivedMs = count.<Instant>getFieldAs("received").toEpochMilli();
      String name =
          count.getField("cause")
              + " "
              + count.getField("service")
              + " at "
              + (receivedMs - MIDNIGHT_MS) / 1000;
      long[] sum = sums.computeIfAbsent(name, key -> new long[2]);
      sum[0] += count.<Long>getFieldAs("traces");
      sum[1] += count.<Long>getFieldAs("spans");
    }
    return sums.entrySet().stream()
        .map(e -> e.getKey() + ": " + e.getValue()[0] + ", " + e.getValue()[1])
        .toList();
  }

  private List<Row> rows(String table) throws Exception {
    return fed.rows(1, table, table);
  }

  @Test
  void fragmentsWithinTheQuietTimeAreOneTraceWhateverTheirOrder() throws Exception {
    receive(4_000, cart());
    receive(0, front());
    assertThat(calls()).isEqualTo(Map.of("front>cart", 1L));
  }

  @Test
  void callsOfAnOpenTraceCountOnceThoughPreviewsHadThem() throws Exception {
    receive(0, front());
    receive(10, cart());
    // The watermark passes the first second.
    receive(2_000, message(service("other", span(9, Span.SERVER, 0, 1).setTraceId(id(7, 16)))));
    receive(3_000, message(service("stock", span(4, Span.SERVER, 6, 9).setParentSpanId(id(3, 8)))));
    receive(9_000, message(service("other", span(9, Span.SERVER, 0, 1).setTraceId(id(8, 16)))));
    assertThat(calls()).isEqualTo(Map.of("front>cart", 1L, "cart>stock", 1L));
    // Only closed traces make a version larger: after a failure there may be fewer previews.
    assertThat(rows("edge"))
        .filteredOn(row -> row.getField("callee").equals("cart"))
        .extracting(row -> row.<Long>getFieldAs("contributions"))
        .satisfies(closed -> assertThat(closed.stream().mapToLong(c -> c).sum()).isEqualTo(1));
  }

  @Test
  void callsBetweenContainersAreRowsOfTheirOwn() throws Exception {
    receive(0, front());
    receive(100, cart());
    assertThat(rows("container_call"))
        .extracting(
            row -> row.getField("caller") + "/" + row.getField("caller_instance"),
            row -> row.getField("callee") + "/" + row.getField("callee_instance"),
            row -> row.<Long>getFieldAs("window_start"),
            row -> row.<Long>getFieldAs("calls"))
        .containsExactly(tuple("front/i-0", "cart/i-0", MIDNIGHT_MS / 1000, 1L));
  }

  /** Both parts of the job share what is known of an address: front has none. */
  @Test
  void underAKnownCalleeASpanCountsAtOnceAndDoesNotMove() throws Exception {
    receive(0, front());
    receive(100, cart());
    assertThat(rowsWhereCartIsKnown("0123456789abcdef0123456789abcdef", "partial"))
        .extracting(row -> row.getField("service") + ">" + row.getField("peer"))
        .containsExactlyInAnyOrder("front>cart", "cart>");
    assertThat(rowsWhereCartIsKnown("0123456789abcdef0123456789abcde0", "moved")).isEmpty();
  }

  /** The rows of a job of this id. */
  private List<Row> rowsWhereCartIsKnown(String job, String table) throws Exception {
    Callees callees = Callees.ofJob(job);
    for (int call = 0; call < 200; call++) {
      callees.add("front", "", "cart");
    }
    List<Row> rows = fed.as(job).rows(1, table, "partial", "moved");
    Reference.reachabilityFence(callees);
    return rows;
  }

  @Test
  void withoutClockRecordsTracesAreClosedToo() throws Exception {
    fed.with("clock-records-ms", 0);
    receive(4_000, cart());
    receive(0, front());
    assertThat(calls()).isEqualTo(Map.of("front>cart", 1L));
  }

  @Test
  void repeatedMessageMovesItsSpansToDuplicates() throws Exception {
    fed.with("repeat-window-ms", 0);
    receive(0, front());
    receive(100, cart());
    receive(200, cart());
    assertThat(recounted()).isEqualTo(Map.of("accepted cart", -1L, "duplicate_span cart", 1L));
    assertThat(calls()).isEqualTo(Map.of("front>cart", 1L));
  }

  @Test
  void traceIdThatIsUsedAgainLaterIsAnotherTrace() throws Exception {
    // The second use arrives before the first is closed: the timer must keep one and close one.
    receive(0, front());
    receive(4_000, cart());
    receive(20_000, front());
    receive(24_000, cart());
    assertThat(calls()).isEqualTo(Map.of("front>cart", 2L));
  }

  @Test
  void spansBeyondTheBoundMoveToTraceTooLarge() throws Exception {
    receive(0, message(service("front", span(2, Span.CLIENT, 0, 20), span(4, Span.SERVER, 0, 1))));
    receive(1, cart());
    fed.with("trace-max-spans", 2);
    assertThat(recounted()).isEqualTo(Map.of("accepted cart", -1L, "trace_too_large cart", 1L));
  }

  @Test
  void closedTraceShowsItsTreeAndWhoWasSeen() throws Exception {
    receive(0, front());
    receive(100, cart());
    List<String> shown = new ArrayList<>();
    rows("seen").forEach(row -> shown.add(row.toString()));
    rows("tree").forEach(row -> shown.add(row.toString()));
    long window = MIDNIGHT_MS / 1_000;
    assertThat(shown)
        .containsExactlyInAnyOrder(
            "+I[front, i-0, , work, " + window + "]",
            "+I[cart, i-0, , work, " + window + "]",
            "+I[front, work, "
                + window
                + ", {\"service\":\"front\",\"operation\":\"work\","
                + "\"stages\":[[{\"service\":\"cart\",\"operation\":\"work\"}]]}, 1]");
  }

  @Test
  void pathAndTheServicesOnIt() throws Exception {
    receive(0, front());
    receive(100, cart());
    List<Row> paths = rows("path");
    List<Row> services = rows("on_path");
    long midnight = MIDNIGHT_MS / 1000;
    assertThat(paths).hasSize(1);
    Row path = paths.get(0);
    assertThat(path.getField("root_service")).isEqualTo("front");
    assertThat(path.getField("root_operation")).isEqualTo("work");
    assertThat(path.getField("complete")).isEqualTo(true);
    assertThat(path.getField("window_start")).isEqualTo(midnight);
    assertThat(path.getField("signature")).isEqualTo("front > cart");
    PathTotals totals = new PathTotalsSerializer().ofBytes(path.getFieldAs("totals"));
    assertThat(totals.endToEnd().sumNs()).isEqualTo(20 * MS);
    assertThat(totals.slowestTraceId()).isEqualTo("0".repeat(31) + "1");
    assertThat(services)
        .extracting(row -> row.getField("service"))
        .containsExactlyInAnyOrder("front", "cart");
    // front [0, 20), cart [5, 15), by equal ways there and back: nobody waited
    for (Row row : services) {
      ServiceTotals service = new ServiceTotalsSerializer().ofBytes(row.getFieldAs("totals"));
      assertThat(row.getField("window_start")).isEqualTo(midnight);
      assertThat(service.traces()).isEqualTo(1);
      assertThat(service.endToEnd().sumNs()).isEqualTo(20 * MS);
      assertThat(service.self().sumNs()).isEqualTo(10 * MS);
      assertThat(service.blame().sumNs()).isEqualTo(10 * MS);
      assertThat(service.waited().sumNs()).isZero();
      long upstream = row.getField("service").equals("cart") ? 10 * MS : 0;
      assertThat(service.upstream().sumNs()).isEqualTo(upstream);
      assertThat(service.callUpstream().sumNs()).isEqualTo(upstream);
    }
  }

  @Test
  void windowOfAPathIsThatOfItsRootsEnd() throws Exception {
    receive(0, message(service("front", span(2, Span.SERVER, 9_000, 10_000))));
    assertThat(rows("path"))
        .extracting(row -> row.getField("window_start"))
        .containsExactly(MIDNIGHT_MS / 1000 + 10);
  }

  @Test
  void orphanIsAPathThatIsNotComplete() throws Exception {
    receive(0, cart());
    assertThat(rows("path")).extracting(row -> row.getField("complete")).containsExactly(false);
  }

  @Test
  void partThatComesAfterItsTraceWasClosedIsLate() throws Exception {
    receive(0, front());
    receive(5_000, cart());
    assertThat(traceCounts())
        .containsExactly(
            "closed_quiet cart at 0: 1, 1",
            "closed_quiet front at 0: 1, 1",
            "incomplete cart at 0: 1, 1",
            "late cart at 0: 1, 1");
  }

  @Test
  void traceIdIsForgottenAfterTheLateTime() throws Exception {
    // Closed at 5 s, and again at 109.999 s: what begins at 104.999 s is late, at 209.999 s not.
    receive(0, front());
    receive(104_999, front());
    receive(209_999, front());
    assertThat(traceCounts())
        .containsExactly(
            "closed_quiet front at 0: 1, 1",
            "closed_quiet front at 100: 1, 1",
            "closed_quiet front at 200: 1, 1",
            "late front at 100: 1, 1");
  }

  @Test
  void partThatIsReadBehindTheWatermarkIsLateToo() throws Exception {
    receive(0, front());
    receive(20_000, message(service("other", span(7, Span.SERVER, 0, 1).setTraceId(id(2, 16)))));
    receive(1_000, cart());
    assertThat(traceCounts())
        .contains("closed_quiet front at 0: 1, 1", "late cart at 0: 1, 1")
        .contains("closed_quiet other at 20: 1, 1")
        .doesNotContain("late other at 20: 1, 1");
  }

  @Test
  void backlogThatIsReadBehindTheWatermarkIsNotTornApart() throws Exception {
    receive(60_000, message(service("other", span(7, Span.SERVER, 0, 1).setTraceId(id(2, 16)))));
    receive(0, front());
    receive(61_000, message(service("other", span(8, Span.SERVER, 0, 1).setTraceId(id(2, 16)))));
    receive(1_000, cart());
    assertThat(traceCounts())
        .contains("closed_quiet front at 0: 1, 2")
        .noneMatch(count -> count.startsWith("late"));
  }

  @Test
  void partOfABacklogIsLateHoweverFarBehindTheWatermark() throws Exception {
    receive(300_000, message(service("other", span(7, Span.SERVER, 0, 1).setTraceId(id(2, 16)))));
    receive(0, front());
    receive(310_000, message(service("other", span(8, Span.SERVER, 0, 1).setTraceId(id(3, 16)))));
    receive(10_000, cart());
    assertThat(traceCounts()).contains("closed_quiet front at 0: 1, 1", "late cart at 10: 1, 1");
  }

  @Test
  void traceThatNeverFallsQuietIsClosedAtItsMaximumAge() throws Exception {
    for (int second = 0; second <= 60; second += 4) {
      receive(second * 1_000L, message(service("front", span(100 + second, Span.SERVER, 0, 1))));
    }
    // 15 spans come before the 60 s are over, one after.
    assertThat(traceCounts())
        .containsExactly(
            "closed_max_age front at 0: 1, 15",
            "closed_quiet front at 60: 1, 1",
            "late front at 60: 1, 1");
  }

  @Test
  void nobodyCountsLatePartsWithoutTheTable() throws Exception {
    receive(0, front());
    receive(5_000, cart());
    assertThat(calls()).isEmpty();
    assertThat(fed.rows(1, "trace_count", "edge")).isEmpty();
  }

  @Test
  void tracesBeyondTheRoomAreClosedEarlyAndCounted() throws Exception {
    // Room for two spans: the trace that is due first gives way, and what comes of it is late.
    fed.with("trace-open-spans", 2);
    receive(0, front());
    receive(1_000, message(service("other", span(7, Span.SERVER, 0, 1).setTraceId(id(2, 16)))));
    receive(2_000, message(service("third", span(8, Span.SERVER, 0, 1).setTraceId(id(3, 16)))));
    receive(3_000, cart());
    assertThat(traceCounts())
        .containsExactly(
            "closed_early front at 0: 1, 1",
            "closed_early other at 0: 1, 1",
            "closed_quiet cart at 0: 1, 1",
            "closed_quiet third at 0: 1, 1",
            "incomplete cart at 0: 1, 1",
            "late cart at 0: 1, 1");
  }

  @Test
  void everyTraceIsAssembledWholeByOneOfSeveralTasks() throws Exception {
    for (int trace = 1; trace <= 40; trace++) {
      receive(
          trace, message(service("front", span(2, Span.CLIENT, 0, 20).setTraceId(id(trace, 16)))));
      receive(
          trace + 100,
          message(
              service(
                  "cart",
                  span(3, Span.SERVER, 5, 15)
                      .setParentSpanId(id(2, 8))
                      .setTraceId(id(trace, 16)))));
    }
    long calls = 0;
    for (Row edge : fed.rows(3, "edge", "edge")) {
      calls += edge.<Long>getFieldAs("calls");
    }
    assertThat(calls).isEqualTo(40);
  }

  @Test
  void spansOfMoreTraceIdsThanAreKeptOfAMessageAreCounted() throws Exception {
    fed.with("message-traces", 1);
    receive(
        0,
        message(
            service(
                "front",
                span(2, Span.SERVER, 0, 20),
                span(3, Span.SERVER, 0, 20).setTraceId(id(2, 16)),
                span(4, Span.SERVER, 0, 20).setTraceId(id(3, 16)))));
    assertThat(recounted()).isEqualTo(Map.of("accepted front", -2L, "too_many_traces front", 2L));
  }

  @Test
  void treesAndWaysBeyondTheBoundOfTheirRootCountTogether() throws Exception {
    fed.with("root-variants", 1);
    for (int trace = 1; trace <= 3; trace++) {
      receive(
          trace,
          message(
              service("front", span(2, Span.SERVER, 0, 20).setTraceId(id(trace, 16))),
              service(
                  "callee-" + trace,
                  span(3, Span.SERVER, 5, 15)
                      .setParentSpanId(id(2, 8))
                      .setTraceId(id(trace, 16)))));
    }
    Map<String, Long> trees = new TreeMap<>();
    rows("tree")
        .forEach(
            row -> trees.merge(row.getFieldAs("tree"), row.<Long>getFieldAs("traces"), Long::sum));
    assertThat(trees).hasSize(2);
    assertThat(trees)
        .containsEntry(
            "{\"service\":\"front\",\"operation\":\"work\",\"cut\":true,\"other\":true}", 2L);
    Set<String> ways = new TreeSet<>();
    rows("path").forEach(row -> ways.add(row.getFieldAs("signature")));
    assertThat(ways).hasSize(2).contains("(more)");
  }

  @Test
  void spansUnderTheNameOfTheRestLeaveThatOutcome() throws Exception {
    fed.with("most-services", 1).with("repeat-window-ms", 0);
    receive(0, front());
    receive(100, cart());
    receive(200, cart());
    assertThat(recounted())
        .isEqualTo(Map.of("accepted_more (more)", -1L, "duplicate_span (more)", 1L));
  }
}
