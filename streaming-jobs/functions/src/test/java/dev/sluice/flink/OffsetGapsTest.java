package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** The function as SQL calls it, on an embedded Flink. */
class OffsetGapsTest {
  private static final TypeInformation<Row> POSITION =
      Types.ROW_NAMED(
          new String[] {"partition", "offset", "record_time"},
          Types.INT,
          Types.LONG,
          Types.INSTANT);

  private final List<Row> input = new ArrayList<>();

  /** Offsets of a partition as they are read, one a millisecond after midnight. */
  private void read(int partition, long... offsets) {
    for (long offset : offsets) {
      Instant time = Instant.ofEpochMilli(MIDNIGHT_MS + input.size());
      input.add(Row.of(partition, offset, time));
    }
  }

  /** "partition first_missing first_read ms": each gap, in the order of the input. */
  private List<String> gaps() throws Exception {
    StreamExecutionEnvironment stream = SharedCluster.environment(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables.getConfig().set("table.local-time-zone", "UTC");
    // As short as it gets: what is known of a partition must outlive it.
    tables.getConfig().set("table.exec.state.ttl", "1 ms");
    Schema schema =
        Schema.newBuilder()
            .column("partition", DataTypes.INT().notNull())
            .column("offset", DataTypes.BIGINT().notNull())
            .column("record_time", DataTypes.TIMESTAMP_LTZ(3))
            .build();
    tables.createTemporaryView(
        "positions",
        tables.fromDataStream(
            stream
                .fromData(POSITION, input.toArray(Row[]::new))
                .map(OffsetGapsTest::later, POSITION),
            schema));
    tables.createTemporarySystemFunction("offset_gaps", OffsetGaps.class);
    List<String> rows = new ArrayList<>();
    Iterator<Row> results =
        tables
            .executeSql(
                "SELECT * FROM offset_gaps(input => TABLE positions PARTITION BY `partition`,"
                    + " uid => 'gaps')")
            .collect();
    while (results.hasNext()) {
      Row row = results.next();
      long afterMs = row.<Instant>getFieldAs("received").toEpochMilli() - MIDNIGHT_MS;
      rows.add(
          String.format(
              "%s %s %s %d",
              row.getField("partition"),
              row.getField("first_missing"),
              row.getField("first_read"),
              afterMs));
    }
    return rows;
  }

  private static Row later(Row row) throws InterruptedException {
    Thread.sleep(20);
    return row;
  }

  @Test
  void missingOffsetsAreAGapOfTheirPartition() throws Exception {
    read(0, 40, 41);
    read(1, 7);
    read(0, 45, 46);
    read(1, 8, 10);
    read(0, 1_000_000);
    assertThat(gaps()).containsExactly("0 42 45 3", "1 9 10 6", "0 47 1000000 7");
  }

  @Test
  void whereReadingBeginsAndWhereItGoesBackIsNone() throws Exception {
    read(0, 500);
    read(1, 0);
    read(0, 501, 3, 4, 502);
    assertThat(gaps()).containsExactly("0 5 502 5");
  }
}
