package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
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

/** The function as SQL calls it, on an embedded Flink. The repeat window is 10 s. */
class MessagesOnceTest {
  private static final TypeInformation<Row> MESSAGE =
      Types.ROW_NAMED(
          new String[] {"message", "record_time", "partition", "offset"},
          Types.PRIMITIVE_ARRAY(Types.BYTE),
          Types.INSTANT,
          Types.INT,
          Types.LONG);

  private static final class EveryRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long timestampMs, WatermarkOutput output) {
      output.emitWatermark(new Watermark(timestampMs));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  private final List<Row> input = new ArrayList<>();

  /** A message (null: a tombstone) that the broker took so many ms after midnight. */
  private void receive(long afterMs, int partition, String message) {
    byte[] bytes = message == null ? null : message.getBytes(StandardCharsets.UTF_8);
    Instant time = Instant.ofEpochMilli(MIDNIGHT_MS + afterMs);
    input.add(Row.of(bytes, time, partition, (long) input.size()));
  }

  /**
   * "message partition offset repeated", in the order of the input; and that time is an attribute.
   */
  private List<String> flagged() throws Exception {
    StreamExecutionEnvironment stream = StreamExecutionEnvironment.createLocalEnvironment(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables.getConfig().set("table.local-time-zone", "UTC");
    tables.getConfig().set("pipeline.global-job-parameters", "sluice.repeat-window-ms:10000");
    Schema schema =
        Schema.newBuilder()
            .column("message", DataTypes.BYTES())
            .column("record_time", DataTypes.TIMESTAMP_LTZ(3))
            .column("partition", DataTypes.INT().notNull())
            .column("offset", DataTypes.BIGINT().notNull())
            .watermark("record_time", "SOURCE_WATERMARK()")
            .build();
    WatermarkStrategy<Row> watermarks =
        WatermarkStrategy.<Row>forGenerator(context -> new EveryRow())
            .withTimestampAssigner((row, old) -> ((Instant) row.getField(1)).toEpochMilli());
    tables.createTemporaryView(
        "otlp_spans",
        tables.fromDataStream(
            stream
                .fromData(MESSAGE, input.toArray(Row[]::new))
                .assignTimestampsAndWatermarks(watermarks),
            schema));
    tables.createTemporarySystemFunction("message_hash", MessageHash.class);
    tables.createTemporarySystemFunction("messages_once", MessagesOnce.class);
    tables.executeSql(
        "CREATE TEMPORARY VIEW hashed_messages AS SELECT message_hash(message) AS message_hash,"
            + " message, record_time, `partition`, `offset` FROM otlp_spans");
    List<String> rows = new ArrayList<>();
    Iterator<Row> results =
        tables
            .executeSql(
                "SELECT message, rowtime, `partition`, `offset`, repeated FROM messages_once(input"
                    + " => TABLE hashed_messages PARTITION BY message_hash, on_time =>"
                    + " DESCRIPTOR(record_time), uid => 'messages-once')")
            .collect();
    while (results.hasNext()) {
      Row row = results.next();
      byte[] message = row.getFieldAs("message");
      long afterMs = row.<Instant>getFieldAs("rowtime").toEpochMilli() - MIDNIGHT_MS;
      rows.add(
          String.format(
              "%s %d %s %s %s",
              message == null ? null : new String(message, StandardCharsets.UTF_8),
              afterMs,
              row.getField("partition"),
              row.getField("offset"),
              row.getField("repeated")));
    }
    return rows;
  }

  @Test
  void sameBytesWithinTheWindowAreARepeatFromWhateverPartition() throws Exception {
    receive(0, 0, "a");
    receive(1, 0, "b");
    receive(2, 1, "a");
    receive(9_999, 2, "a");
    assertThat(flagged())
        .containsExactly("a 0 0 0 false", "b 1 0 1 false", "a 2 1 2 true", "a 9999 2 3 true");
  }

  @Test
  void windowBeginsAnewAfterItsEnd() throws Exception {
    // The window of the first is 0 to 10 s, whether its timer has fired or not; that of the third
    // 10 to 20.
    receive(0, 0, "a");
    receive(5_000, 0, "a");
    receive(10_000, 0, "a");
    receive(19_999, 0, "a");
    receive(40_000, 0, "b");
    receive(40_001, 0, "a");
    assertThat(flagged())
        .containsExactly(
            "a 0 0 0 false",
            "a 5000 0 1 true",
            "a 10000 0 2 false",
            "a 19999 0 3 true",
            "b 40000 0 4 false",
            "a 40001 0 5 false");
  }

  @Test
  void partitionThatIsReadBehindShowsTheRepeatFirst() throws Exception {
    receive(8_000, 1, "a");
    receive(0, 0, "a");
    assertThat(flagged()).containsExactly("a 8000 1 0 false", "a 0 0 1 true");
  }

  @Test
  void tombstonesPass() throws Exception {
    receive(0, 0, null);
    receive(1, 0, null);
    assertThat(flagged()).containsExactly("null 0 0 0 false", "null 1 0 1 true");
  }
}
