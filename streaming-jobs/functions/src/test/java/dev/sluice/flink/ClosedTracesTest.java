package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
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

/** The function as SQL calls it, on an embedded Flink. Quiet time 5 s, maximum age 60 s. */
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

  /** Rows of closed_traces with these columns. */
  private Iterator<Row> rows(int maxSpans, String columns) {
    StreamExecutionEnvironment stream = StreamExecutionEnvironment.createLocalEnvironment(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables
        .getConfig()
        .set(
            "pipeline.global-job-parameters",
            "sluice.trace-quiet-ms:5000,sluice.trace-max-age-ms:60000,sluice.edge-window-ms:10000,"
                + "sluice.trace-rows:edge;seen;tree,sluice.max-age-ms:60000,sluice.max-ahead-ms:0,"
                + "sluice.lateness-ms:60000,"
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
    return tables
        .executeSql(
            "SELECT "
                + columns
                + " FROM closed_traces(input => TABLE fragments PARTITION BY"
                + " trace_id, on_time => DESCRIPTOR(record_time), uid => 'edges')")
        .collect();
  }

  /** What the rows sum to: calls by "caller>callee", spans by "outcome service". */
  private Map<String, Long> sums(int maxSpans) {
    Map<String, Long> sums = new TreeMap<>();
    Iterator<Row> rows = rows(maxSpans, "edge, counted");
    while (rows.hasNext()) {
      Row row = rows.next();
      Row edge = row.getFieldAs("edge");
      Row counted = row.getFieldAs("counted");
      if (edge != null) {
        String name = edge.getField("caller") + ">" + edge.getField("callee");
        sums.merge(name, edge.<Long>getFieldAs("calls"), Long::sum);
      } else if (counted != null) {
        String name = counted.getField("outcome") + " " + counted.getField("service");
        sums.merge(name, counted.<Long>getFieldAs("spans"), Long::sum);
      }
    }
    return sums;
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
    rows(100, "seen, tree")
        .forEachRemaining(
            row -> {
              for (Object column : new Object[] {row.getField("seen"), row.getField("tree")}) {
                if (column != null) {
                  shown.add(column.toString());
                }
              }
            });
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
}
