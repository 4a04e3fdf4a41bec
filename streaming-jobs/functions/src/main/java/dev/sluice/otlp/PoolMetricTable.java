package dev.sluice.otlp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The metrics that hold figures of pools: {@code pools.csv} by the metric's name. */
final class PoolMetricTable {
  /**
   * One line of the table.
   *
   * @param rank of the metrics of one pool and figure, the lowest that has a value counts
   * @param unit of times, where the metric names none; "" for numbers
   * @param poolNames the attributes that name the pool, the best first
   */
  record Entry(
      PoolFigure figure,
      PoolSide side,
      int rank,
      String unit,
      MetricTable.Filter filter,
      List<String> poolNames) {}

  private static final String RESOURCE = "pools.csv";
  private static final int COLUMNS = 8;

  private final Map<String, List<Entry>> entries;

  private PoolMetricTable(Map<String, List<Entry>> entries) {
    this.entries = entries;
  }

  /** The table that ships with this module. */
  static PoolMetricTable load() {
    try (InputStream in = PoolMetricTable.class.getResourceAsStream(RESOURCE)) {
      return parse(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException("read " + RESOURCE, e);
    }
  }

  /** A figure of a metric may stand once for each attribute filter. */
  static PoolMetricTable parse(BufferedReader in) {
    Map<String, List<Entry>> entries = new HashMap<>();
    in.lines()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .skip(1)
        .map(line -> line.split(",", COLUMNS))
        .forEach(
            cells -> {
              Entry entry = entry(cells);
              List<Entry> of = entries.computeIfAbsent(cells[3], absent -> new ArrayList<>());
              if (of.stream().anyMatch(other -> other.filter().equals(entry.filter()))) {
                throw new IllegalArgumentException("metric stands twice in the table: " + cells[3]);
              }
              of.add(entry);
            });
    return new PoolMetricTable(entries);
  }

  private static Entry entry(String[] cells) {
    PoolFigure figure = PoolFigure.valueOf(cells[0].toUpperCase(Locale.ROOT));
    if (figure.isTime() == cells[4].isEmpty()) {
      throw new IllegalArgumentException("a unit is for times, and for all of them: " + cells[3]);
    }
    return new Entry(
        figure,
        PoolSide.valueOf(cells[1].toUpperCase(Locale.ROOT)),
        Integer.parseInt(cells[2]),
        cells[4],
        MetricTable.Filter.parse(cells[5]),
        cells[6].isEmpty() ? List.of() : List.of(cells[6].split("\\|")));
  }

  /** The lines of the metric. */
  List<Entry> find(String metric) {
    return entries.getOrDefault(metric, List.of());
  }
}
