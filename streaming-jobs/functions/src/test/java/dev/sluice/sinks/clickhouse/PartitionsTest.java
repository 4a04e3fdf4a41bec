package dev.sluice.sinks.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionsTest {
  private static final ZonedDateTime DAY =
      ZonedDateTime.of(2026, 1, 31, 0, 0, 0, 0, ZoneOffset.UTC);

  private static Object[] row(String service, int hour) {
    return new Object[] {service, DAY.plusHours(hour)};
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
  void columnsOfTheKeyAreFound(String key, String columns) {
    List<Integer> found = Partitions.of(key, List.of("service", "bucket"), 100).columns();
    assertThat(found.stream().map(String::valueOf).collect(Collectors.joining(" ")))
        .isEqualTo(columns);
  }

  @Test
  void aGroupSpansAtMostSoManyDays() {
    Partitions partitions = new Partitions(List.of(1), 2);
    // Days 0, 1, 0, 2, 2, 3, 1, 4.
    List<Object[]> rows =
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
        partitions.groups(rows).stream()
            .map(group -> group.stream().map(row -> (String) row[0]).collect(Collectors.joining()))
            .toList();
    assertThat(groups).containsExactly("abcg", "def", "h");
  }

  @Test
  void whatIsNotPartitionedOrNotLimitedGoesAtOnce() {
    List<Object[]> rows = List.of(row("a", 0), row("b", 100));
    assertThat(new Partitions(List.of(), 1).groups(rows)).containsExactly(rows);
    assertThat(new Partitions(List.of(1), 0).groups(rows)).containsExactly(rows);
  }

  @Property(tries = 100)
  void everyRowIsInOneGroupAndEveryPartitionToo(
      @ForAll List<@IntRange(max = 500) Integer> hours,
      @ForAll @IntRange(min = 1, max = 8) int most) {
    List<Object[]> rows = new ArrayList<>();
    hours.forEach(hour -> rows.add(row("a", hour)));
    List<List<Object[]>> groups = new Partitions(List.of(1), most).groups(rows);
    assertThat(groups.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(rows);
    List<Set<Object>> days = new ArrayList<>();
    for (List<Object[]> group : groups) {
      days.add(
          group.stream()
              .map(row -> (Object) ((ZonedDateTime) row[1]).toLocalDate())
              .collect(Collectors.toSet()));
    }
    assertThat(days).allMatch(each -> each.size() <= most);
    assertThat(days.stream().mapToInt(Set::size).sum())
        .isEqualTo(days.stream().flatMap(Set::stream).collect(Collectors.toSet()).size());
  }
}
