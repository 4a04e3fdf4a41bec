package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.RowConverter;
import dev.sluice.sinks.RowsOfSink;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryArrayData;
import org.apache.flink.table.data.binary.BinaryMapData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;

/**
 * What a row of {@code windows} costs the sink, from Flink's row to the body of an insert, in ns of
 * CPU: straight, and by way of plain values, as a reference.
 *
 * <p>Arguments: rows of a batch, cells of a histogram, seconds of warming up, seconds of measuring.
 */
public final class SinkLoop {
  private static final int[] KEY = {0, 1, 2, 3, 4};
  private static final List<String> STORED =
      List.of(
          "Enum8('server' = 1, 'client' = 2)",
          "LowCardinality(String)",
          "LowCardinality(String)",
          "LowCardinality(String)",
          "DateTime64(3, 'UTC')",
          "UInt16",
          "UInt64",
          "UInt32",
          "UInt32",
          "Map(Int16, UInt32)",
          "UInt64");
  private static final RowType TYPE =
      (RowType)
          DataTypes.ROW(
                  DataTypes.FIELD("side", DataTypes.STRING().notNull()),
                  DataTypes.FIELD("service", DataTypes.STRING().notNull()),
                  DataTypes.FIELD("peer", DataTypes.STRING().notNull()),
                  DataTypes.FIELD("instance", DataTypes.STRING().notNull()),
                  DataTypes.FIELD("bucket", DataTypes.TIMESTAMP_LTZ(3).notNull()),
                  DataTypes.FIELD("bucket_ms", DataTypes.INT().notNull()),
                  DataTypes.FIELD("busy_ns", DataTypes.BIGINT().notNull()),
                  DataTypes.FIELD("completions", DataTypes.BIGINT().notNull()),
                  DataTypes.FIELD("errors", DataTypes.BIGINT().notNull()),
                  DataTypes.FIELD(
                      "latency", DataTypes.MAP(DataTypes.SMALLINT(), DataTypes.INT())),
                  DataTypes.FIELD("version", DataTypes.BIGINT().notNull()))
              .getLogicalType();

  private interface Way {
    int bytes(List<RowData> rows) throws Exception;
  }

  private SinkLoop() {}

  public static void main(String[] arguments) throws Exception {
    List<RowData> rows =
        rows(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
    Map<String, String> types = new LinkedHashMap<>();
    for (int i = 0; i < STORED.size(); i++) {
      types.put(TYPE.getFieldNames().get(i), STORED.get(i));
    }
    TableColumns table =
        TableColumns.of(TYPE.getFieldNames(), types, new Partitions(List.of(4), 100));
    RowEncoder encoder = new RowEncoder(table, TYPE);
    RowsOfSink buffer = new RowsOfSink(TYPE, KEY);
    RowConverter converter = new RowConverter(TYPE);
    Way straight =
        batch -> {
          batch.forEach(buffer::put);
          return encoder.encode(buffer.take()).length;
        };
    Way plain =
        batch -> {
          Map<List<Object>, Object[]> last = new LinkedHashMap<>();
          for (RowData row : batch) {
            Object[] values = RowsOfSink.plain(converter, row);
            List<Object> key = new ArrayList<>(KEY.length);
            for (int column : KEY) {
              key.add(values[column]);
            }
            last.put(key, values);
          }
          ByteArrayOutputStream body = new ByteArrayOutputStream(128 * last.size());
          body.writeBytes(RowEncoder.header(table));
          for (Object[] values : last.values()) {
            for (int i = 0; i < values.length; i++) {
              ValueEncoder.encode(body, table.columns().get(i), values[i]);
            }
          }
          return body.toByteArray().length;
        };
    if (straight.bytes(rows) != plain.bytes(rows)) {
      throw new IllegalStateException("the two ways differ");
    }
    double warmUp = Double.parseDouble(arguments[2]);
    double measure = Double.parseDouble(arguments[3]);
    run(plain, rows, warmUp);
    run(straight, rows, warmUp);
    double plainNs = run(plain, rows, measure);
    double straightNs = run(straight, rows, measure);
    System.out.printf("{\"plain_ns\":%.0f,\"straight_ns\":%.0f}%n", plainNs, straightNs);
  }

  /** ns of CPU a row. */
  private static double run(Way way, List<RowData> rows, double seconds) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    long begun = threads.getCurrentThreadCpuTime();
    long elapsedNs = 0;
    long done = 0;
    while (elapsedNs < seconds * 1e9) {
      way.bytes(rows);
      done += rows.size();
      elapsedNs = threads.getCurrentThreadCpuTime() - begun;
    }
    return (double) elapsedNs / done;
  }

  private static RowType part(int from, int until) {
    return new RowType(TYPE.getFields().subList(from, until));
  }

  private static StringData text(String text) {
    return StringData.fromString(text);
  }

  /** As a sum by key gives them out: the key's bytes beside those of the sums. */
  private static List<RowData> rows(int count, int cells) {
    SplittableRandom random = new SplittableRandom(1);
    List<RowData> rows = new ArrayList<>();
    RowDataSerializer key = new RowDataSerializer(part(0, KEY.length));
    RowDataSerializer sums = new RowDataSerializer(part(KEY.length, TYPE.getFieldCount()));
    for (int i = 0; i < count; i++) {
      short[] keys = new short[cells];
      int[] counts = new int[cells];
      for (int cell = 0; cell < cells; cell++) {
        keys[cell] = (short) (1_200 + 3 * cell);
        counts[cell] = random.nextInt(1, 50);
      }
      rows.add(
          new JoinedRowData(
              key.toBinaryRow(
                      GenericRowData.of(
                          text(i % 2 == 0 ? "server" : "client"),
                          text("service-" + i % 100),
                          text(i % 2 == 0 ? "" : "service-" + i % 90),
                          text("service-" + i % 100 + "-7d9f8-" + i % 10),
                          TimestampData.fromEpochMillis(1_800_000_000_000L + i / 1_000 * 100L)))
                  .copy(),
              sums.toBinaryRow(
                      GenericRowData.of(
                          100,
                          random.nextLong(1_000_000_000L),
                          random.nextLong(100),
                          0L,
                          BinaryMapData.valueOf(
                              BinaryArrayData.fromPrimitiveArray(keys),
                              BinaryArrayData.fromPrimitiveArray(counts)),
                          random.nextLong(1_000)))
                  .copy()));
    }
    return rows;
  }
}
