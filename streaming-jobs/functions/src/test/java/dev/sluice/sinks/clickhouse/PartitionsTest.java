package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionsTest {
  private static final Instant DAY = Instant.parse("2026-01-31T00:00:00Z");
  private static final RowType TYPE =
      (RowType)
          DataTypes.ROW(
                  DataTypes.FIELD("service", DataTypes.STRING()),
                  DataTypes.FIELD("bucket", DataTypes.TIMESTAMP_LTZ(3)))
              .getLogicalType();

  private static RowData row(String service, int hour) {
    return GenericRowData.of(
        StringData.fromString(service),
        TimestampData.fromInstant(DAY.plus(hour, ChronoUnit.HOURS)));
  }

  private static LocalDate day(RowData row) {
    return LocalDate.ofInstant(row.getTimestamp(1, 3).toInstant(), ZoneOffset.UTC);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "toDate(bucket); 1",
        "toYYYYMM(bucket); 1",
        "(service, toDate(bucket)); 0 1",
        "toDate(`bucket`); 1",
        "toDate(bucket_end); ''",
        "toDate(my_bucket); ''",
        "''; ''"
      })
  void theColumnsOfTheKeyHavePositions(String key, String columns) {
    List<Integer> positions = Partitions.of(key, List.of("service", "bucket"), 100).columns();
    assertThat(positions.stream().map(String::valueOf).collect(Collectors.joining(" ")))
        .isEqualTo(columns);
  }

  @Test
  void aGroupSpansTwoDaysAtMost() {
    Partitions partitions = new Partitions(List.of(1), 2);
    // Days 0, 1, 0, 2, 2, 3, 1, 4.
    List<RowData> rows =
        List.of(
            row("a", 0),
            row("b", 24),
            row("c", 23),
            row("d", 48),
            row("e", 71),
            row("f", 72),
            row("g", 47),
            row("h", 96));
    List<String> groups =
        partitions.groups(rows, TYPE).stream()
            .map(
                group ->
                    group.stream()
                        .map(row -> row.getString(0).toString())
                        .collect(Collectors.joining()))
            .toList();
    assertThat(groups).containsExactly("abcg", "def", "h");
  }

  @Test
  void rowsWithoutAPartitionKeyOrALimitAreOneGroup() {
    List<RowData> rows = List.of(row("a", 0), row("b", 100));
    assertThat(new Partitions(List.of(), 1).groups(rows, TYPE)).containsExactly(rows);
    assertThat(new Partitions(List.of(1), 0).groups(rows, TYPE)).containsExactly(rows);
  }

  @Property(tries = 100)
  void everyRowIsInOneGroupAndEveryPartitionToo(
      @ForAll List<@IntRange(max = 500) Integer> hours,
      @ForAll @IntRange(min = 1, max = 8) int most) {
    List<RowData> rows = new ArrayList<>();
    hours.forEach(hour -> rows.add(row("a", hour)));
    List<List<RowData>> groups = new Partitions(List.of(1), most).groups(rows, TYPE);
    assertThat(groups.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(rows);
    List<Set<LocalDate>> days = new ArrayList<>();
    for (List<RowData> group : groups) {
      days.add(group.stream().map(PartitionsTest::day).collect(Collectors.toSet()));
    }
    assertThat(days).allMatch(group -> group.size() <= most);
    assertThat(days.stream().mapToInt(Set::size).sum())
        .isEqualTo(days.stream().flatMap(Set::stream).collect(Collectors.toSet()).size());
  }
}
