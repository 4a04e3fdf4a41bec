package dev.sluice.flink;

import dev.sluice.otlp.Requests;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.PipelineOptionsInternal;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/**
 * The stage as jobs call it, on an embedded Flink that is fed with a few messages of {@code
 * otlp_spans}. Quiet time 5 s, maximum age 60 s, late for 100 s, repeats within 10 s.
 */
final class Fed {
  static final TypeInformation<Row> MESSAGE =
      Types.ROW_NAMED(
          new String[] {"message", "record_time", "partition", "offset"},
          Types.PRIMITIVE_ARRAY(Types.BYTE),
          Types.INSTANT,
          Types.INT,
          Types.LONG);

  static final Schema SCHEMA =
      Schema.newBuilder()
          .column("message", DataTypes.BYTES())
          .column("record_time", DataTypes.TIMESTAMP_LTZ(3).notNull())
          .column("partition", DataTypes.INT().notNull())
          .column("offset", DataTypes.BIGINT().notNull())
          .watermark("record_time", "SOURCE_WATERMARK()")
          .build();

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
  private String job;
  private final Map<String, String> parameters =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("bucket-ms", "100"),
              Map.entry("max-spread-ms", "600000"),
              Map.entry("max-age-ms", "6000000"),
              Map.entry("max-ahead-ms", "60000"),
              Map.entry("lateness-ms", "6000000"),
              Map.entry("repeat-window-ms", "10000"),
              Map.entry("edge-window-ms", "10000"),
              Map.entry("path-window-ms", "10000"),
              Map.entry("sample-window-ms", "10000"),
              Map.entry("mini-batch-ms", "200"),
              Map.entry("clock-records-ms", "1000"),
              Map.entry("idle-ms", "5000"),
              Map.entry("bounds-window-ms", "60000"),
              Map.entry("most-services", "100"),
              Map.entry("most-instances", "100"),
              Map.entry("most-hosts", "100"),
              Map.entry("most-peers", "100"),
              Map.entry("most-operations", "100"),
              Map.entry("most-series", "100"),
              Map.entry("most-spread-rows", "100000"),
              Map.entry("message-traces", "100"),
              Map.entry("root-variants", "10"),
              Map.entry("trace-quiet-ms", "5000"),
              Map.entry("trace-max-age-ms", "60000"),
              Map.entry("trace-late-ms", "100000"),
              Map.entry("trace-max-spans", "100"),
              Map.entry("trace-open-spans", "100000"),
              Map.entry("trace-heap-percent", "30"),
              Map.entry("span-rules", "Cg==")));

  /** Rules of spans, as lines of words. */
  Fed ruled(String lines) {
    byte[] bytes = lines.getBytes(StandardCharsets.UTF_8);
    parameters.put("span-rules", Base64.getUrlEncoder().encodeToString(bytes));
    return this;
  }

  Fed with(String setting, long value) {
    parameters.put(setting, String.valueOf(value));
    return this;
  }

  /** A message (null: a tombstone) that the broker took so many ms after midnight. */
  Fed receive(long afterMs, int partition, byte[] message) {
    Instant time = Instant.ofEpochMilli(Requests.MIDNIGHT_MS + afterMs);
    input.add(Row.of(message, time, partition, (long) input.size()));
    return this;
  }

  Fed receive(long afterMs, byte[] message) {
    return receive(afterMs, 0, message);
  }

  /** The job's parameters, as Flink takes them; `wanted` are the tables that the jobs read. */
  String jobParameters(String... wanted) {
    parameters.put("span-tables", String.join(";", wanted));
    List<String> pairs = new ArrayList<>();
    parameters.forEach((key, value) -> pairs.add("sluice." + key + ":" + value));
    return String.join(",", pairs);
  }

  /** Runs as this job, of 32 hexadecimal digits, and not as one of a random id. */
  Fed as(String id) {
    job = id;
    return this;
  }

  /** The rows of one of the views; `wanted` are the tables that the jobs read. */
  List<Row> rows(int parallelism, String view, String... wanted) throws Exception {
    StreamExecutionEnvironment stream = SharedCluster.environment(parallelism);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables.getConfig().set("pipeline.global-job-parameters", jobParameters(wanted));
    tables.getConfig().set("pipeline.object-reuse", "true");
    tables.getConfig().set("table.local-time-zone", "UTC");
    if (job != null) {
      tables.getConfig().set(PipelineOptionsInternal.PIPELINE_FIXED_JOB_ID, job);
    }
    WatermarkStrategy<Row> watermarks =
        WatermarkStrategy.<Row>forGenerator(context -> new EveryRow())
            .withTimestampAssigner((row, old) -> ((Instant) row.getField(1)).toEpochMilli());
    tables.createTemporaryView(
        "otlp_spans",
        tables.fromDataStream(
            stream
                .fromData(MESSAGE, input.toArray(Row[]::new))
                .setParallelism(1)
                .assignTimestampsAndWatermarks(watermarks)
                .setParallelism(1),
            SCHEMA));
    SpanStreams.define(tables, null);
    List<Row> rows = new ArrayList<>();
    tables.executeSql("SELECT * FROM span_" + view).collect().forEachRemaining(rows::add);
    return rows;
  }
}
