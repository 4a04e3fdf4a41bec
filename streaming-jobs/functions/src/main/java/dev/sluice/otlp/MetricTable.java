package dev.sluice.otlp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The metrics that are read, and their roles: {@code metrics.csv} by the metric's name. */
final class MetricTable {
  /**
   * One line of the table.
   *
   * @param rank of the sources of one role, the lowest that has a value wins
   * @param factor one unit of the metric in the role's unit
   */
  record Entry(MetricRole role, int rank, double factor, Filter filter) {}

  /** The points of a metric that count: by the value of an attribute that has had several names. */
  record Filter(List<String> names, String value, boolean wanted) {
    static final Filter NONE = new Filter(List.of(), "", false);

    /** {@code state|cpu.mode=idle}, {@code device!=lo}, or nothing: every point passes. */
    static Filter parse(String text) {
      if (text.isEmpty()) {
        return NONE;
      }
      boolean wanted = !text.contains("!=");
      String[] sides = text.split("!?=", 2);
      return new Filter(List.of(sides[0].split("\\|")), sides[1], wanted);
    }

    boolean passes(Map<String, String> attributes) {
      return wanted == names.stream().anyMatch(name -> value.equals(attributes.get(name)));
    }
  }

  private static final String RESOURCE = "metrics.csv";
  private static final int COLUMNS = 6;

  private final Map<String, Entry> entries;

  private MetricTable(Map<String, Entry> entries) {
    this.entries = entries;
  }

  /** The table that ships with this module. */
  static MetricTable load() {
    try (InputStream in = MetricTable.class.getResourceAsStream(RESOURCE)) {
      return parse(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException("read " + RESOURCE, e);
    }
  }

  static MetricTable parse(BufferedReader in) {
    Map<String, Entry> entries = new HashMap<>();
    in.lines()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .skip(1)
        .map(line -> line.split(",", COLUMNS))
        .forEach(
            cells -> {
              Entry entry =
                  new Entry(
                      MetricRole.valueOf(cells[0].toUpperCase(Locale.ROOT)),
                      Integer.parseInt(cells[1]),
                      Double.parseDouble(cells[3]),
                      Filter.parse(cells[4]));
              if (entries.put(cells[2], entry) != null) {
                throw new IllegalArgumentException("metric stands twice in the table: " + cells[2]);
              }
            });
    return new MetricTable(entries);
  }

  /** The line of the metric, or null. */
  Entry find(String metric) {
    return entries.get(metric);
  }
}
