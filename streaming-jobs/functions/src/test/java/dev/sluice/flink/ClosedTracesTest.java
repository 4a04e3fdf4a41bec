package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.traces.FragmentAccumulator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/**
 * The function as SQL calls it, on an embedded Flink. Quiet time 5 s, maximum age 60 s, late for
 * 100 s.
 */
class ClosedTracesTest {
  private static final TypeInformation<Row> FRAGMENT =
      Types.ROW_NAMED(
          new String[] {"trace_id", "spans", "span_count", "record_time"},
          Types.PRIMITIVE_ARRAY(Types.BYTE),
          Types.PRIMITIVE_ARRAY(Types.BYTE),
          Types.INT,
          Types.INSTANT);

  /** The watermark follows every row: one that comes behind a newer one is late. */
  private static final class EveryRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long timestampMs, WatermarkOutput output) {
      output.emitWatermark(new Watermark(timestampMs));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  private final List<Row> input = new ArrayList<>();

  /** The fragments of a message that the broker took so many ms after midnight. */
  private void receive(long afterMs, byte[] message) throws Exception {
    FragmentAccumulator fragments = new FragmentAccumulator();
    new TraceRequestDecoder().decode(message, fragments::accept);
    long receivedMs = MIDNIGHT_MS + afterMs;
    fragments.forEach(
        (traceId, fragment) ->
            input.add(
                Row.of(
                    traceId,
                    fragment.encode(receivedMs),
                    fragment.size(),
                    Instant.ofEpochMilli(receivedMs))));
  }

  private static byte[] front() {
    return message(service("front", span(2, Span.CLIENT, 0, 20)));
  }

  private static byte[] cart() {
    return message(service("cart", span(3, Span.SERVER, 5, 15).setParentSpanId(id(2, 8))));
  }

  /** What the rows sum to: calls by "caller>callee", spans by "outcome service". */
  private Map<String, Long> sums(int maxSpans) throws Exception {
    Map<String, Long> sums = new TreeMap<>();
    for (Row row : rows(maxSpans, "edge")) {
      Row edge = row.getFieldAs("edge");
      Row counted = row.getFieldAs("counted");
      if (edge != null) {
        String name = edge.getField("caller") + ">" + edge.getField("callee");
        sums.merge(name, edge.<Long>getFieldAs("calls"), Long::sum);
      } else {
        String name = counted.getField("outcome") + " " + counted.getField("service");
        sums.merge(name, counted.<Long>getFieldAs("spans"), Long::sum);
      }
    }
    return sums;
  }

  /** Counts of traces: "cause service at s after midnight: traces, spans". */
  private List<String> traceCounts() throws Exception {
    Map<String, long[]> sums = new TreeMap<>();
    for (Row row : rows(100, "trace_count")) {
      Row count = row.getFieldAs("trace_count");
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

  /** All rows; `columns` are those that somebody reads, by semicolons. */
  private List<Row> rows(int maxSpans, String columns) throws Exception {
    StreamExecutionEnvironment stream = StreamExecutionEnvironment.createLocalEnvironment(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables
        .getConfig()
        .set(
            "pipeline.global-job-parameters",
            "sluice.trace-quiet-ms:5000,sluice.trace-max-age-ms:60000,sluice.edge-window-ms:10000,"
                + "sluice.max-age-ms:60000,sluice.max-ahead-ms:0,sluice.lateness-ms:60000,"
                + "sluice.trace-late-ms:100000,sluice.path-window-ms:10000,"
                + "sluice.trace-rows:"
                + columns
                + ","
                + "sluice.trace-max-spans:"
                + maxSpans);
    Schema schema =
        Schema.newBuilder()
            .column("trace_id", DataTypes.BYTES())
            .column("spans", DataTypes.BYTES())
            .column("span_count", DataTypes.INT())
            .column("record_time", DataTypes.TIMESTAMP_LTZ(3))
            .watermark("record_time", "SOURCE_WATERMARK()")
            .build();
    WatermarkStrategy<Row> watermarks =
        WatermarkStrategy.<Row>forGenerator(context -> new EveryRow())
            .withTimestampAssigner((row, old) -> ((Instant) row.getField(3)).toEpochMilli());
    tables.createTemporaryView(
        "fragments",
        tables.fromDataStream(
            stream
                .fromData(FRAGMENT, input.toArray(Row[]::new))
                .assignTimestampsAndWatermarks(watermarks),
            schema));
    tables.createTemporarySystemFunction("closed_traces", ClosedTraces.class);
    Iterator<Row> rows =
        tables
            .executeSql(
                "SELECT * FROM closed_traces(input => TABLE fragments PARTITION BY"
                    + " trace_id, on_time => DESCRIPTOR(record_time), uid => 'traces')")
            .collect();
    List<Row> all = new ArrayList<>();
    rows.forEachRemaining(all::add);
    return all;
  }

  @Test
  void fragmentsWithinTheQuietTimeAreOneTraceWhateverTheirOrder() throws Exception {
    receive(4_000, cart());
    receive(0, front());
    assertThat(sums(100)).isEqualTo(Map.of("front>cart", 1L));
  }

  @Test
  void repeatedMessageMovesItsSpansToDuplicates() throws Exception {
    receive(0, front());
    receive(100, cart());
    receive(200, cart());
    assertThat(sums(100))
        .isEqualTo(Map.of("front>cart", 1L, "accepted cart", -1L, "duplicate_span cart", 1L));
  }

  @Test
  void traceIdThatIsUsedAgainLaterIsAnotherTrace() throws Exception {
    // The second use arrives before the first is closed: the timer must keep one and close one.
    receive(0, front());
    receive(4_000, cart());
    receive(20_000, front());
    receive(24_000, cart());
    assertThat(sums(100)).isEqualTo(Map.of("front>cart", 2L));
  }

  @Test
  void spansBeyondTheBoundMoveToTraceTooLarge() throws Exception {
    receive(0, message(service("front", span(2, Span.CLIENT, 0, 20), span(4, Span.SERVER, 0, 1))));
    receive(1, cart());
    assertThat(sums(2)).isEqualTo(Map.of("accepted cart", -1L, "trace_too_large cart", 1L));
  }

  @Test
  void closedTraceShowsItsTreeAndWhoWasSeen() throws Exception {
    receive(0, front());
    receive(100, cart());
    List<String> shown = new ArrayList<>();
    for (Row row : rows(100, "seen;tree")) {
      for (Object column : new Object[] {row.getField("seen"), row.getField("tree")}) {
        if (column != null) {
          shown.add(column.toString());
        }
      }
    }
    long window = MIDNIGHT_MS / 1_000;
    assertThat(shown)
        .containsExactlyInAnyOrder(
            "+I[front, i-0, , work, " + window + "]",
            "+I[cart, i-0, , work, " + window + "]",
            "+I[front, work, "
                + window
                + ", {\"service\":\"front\",\"operation\":\"work\","
                + "\"stages\":[[{\"service\":\"cart\",\"operation\":\"work\"}]]}]");
  }

  @Test
  void pathAndTheServicesOnIt() throws Exception {
    receive(0, front());
    receive(100, cart());
    List<Row> paths = new ArrayList<>();
    List<Row> services = new ArrayList<>();
    for (Row row : rows(100, "on_path;path")) {
      (row.getField("path") != null ? paths : services)
          .add(row.getFieldAs(row.getField("path") != null ? "path" : "on_path"));
    }
    long midnight = MIDNIGHT_MS / 1000;
    assertThat(paths).hasSize(1);
    Row path = paths.get(0);
    assertThat(path.getField("root_service")).isEqualTo("front");
    assertThat(path.getField("root_operation")).isEqualTo("work");
    assertThat(path.getField("complete")).isEqualTo(true);
    assertThat(path.getField("window_start")).isEqualTo(midnight);
    assertThat(path.getField("duration_ns")).isEqualTo(20 * MS);
    assertThat(path.getField("signature")).isEqualTo("front > cart");
    assertThat(path.<byte[]>getFieldAs("trace_id")).isEqualTo(id(1, 16).toByteArray());
    // front [0, 20), cart [5, 15), by equal ways there and back: nobody waited
    long ten = 10 * MS;
    assertThat(services)
        .containsExactly(
            Row.of("front", "work", true, midnight, 20 * MS, "front", ten, 0L, 0L, 0L, ten),
            Row.of("front", "work", true, midnight, 20 * MS, "cart", ten, ten, ten, 0L, ten));
  }

  @Test
  void windowOfAPathIsThatOfItsRootsEnd() throws Exception {
    receive(0, message(service("front", span(2, Span.SERVER, 9_000, 10_000))));
    assertThat(rows(100, "path"))
        .extracting(row -> row.<Row>getFieldAs("path").getField("window_start"))
        .containsExactly(MIDNIGHT_MS / 1000 + 10);
  }

  @Test
  void orphanIsAPathThatIsNotComplete() throws Exception {
    receive(0, cart());
    assertThat(rows(100, "path"))
        .extracting(row -> row.<Row>getFieldAs("path").getField("complete"))
        .containsExactly(false);
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
  void nobodyCountsLatePartsWithoutTheColumn() throws Exception {
    receive(0, front());
    receive(5_000, cart());
    assertThat(sums(100)).isEmpty();
  }
}
