package dev.sluice.sinks.rejects;

import dev.sluice.sinks.Rejects.Rejected;
import dev.sluice.sinks.SparseCounts;
import dev.sluice.sinks.rejects.RejectedRows.Source;
import java.io.IOException;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** Rows that a store refused, as JSON objects; see collector/topics.yaml for the letters. */
final class RowJson {
  // So that the whole letter stays well below the topic's max.message.bytes.
  static final int MAX_ROW_BYTES = 4 << 20;
  private static final int MAX_KEY = 1_000;
  private static final int MAX_DETAIL = 2_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Source source;

  RowJson(Source source) {
    this.source = source;
  }

  /** The dead letter; without the row where that is larger than {@link #MAX_ROW_BYTES}. */
  byte[] letter(Rejected rejected) throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < rejected.row().length; i++) {
      row.put(source.columns().get(i), plain(rejected.row()[i]));
    }
    Map<String, Object> letter = new LinkedHashMap<>();
    letter.put("reason", rejected.reason());
    letter.put("detail", cut(rejected.detail(), MAX_DETAIL));
    letter.put("store", source.store());
    letter.put("table", source.table());
    letter.put("key", key(rejected.row()));
    if (JSON.writeValueAsBytes(row).length <= MAX_ROW_BYTES) {
      letter.put("row", row);
    }
    return JSON.writeValueAsBytes(letter);
  }

  /** The letter's row in rejected_rows. */
  byte[] count(Rejected rejected) throws IOException {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("store", source.store());
    line.put("table", source.table());
    line.put("reason", rejected.reason());
    line.put("key", key(rejected.row()));
    line.put("detail", cut(rejected.detail(), MAX_DETAIL));
    return JSON.writeValueAsBytes(line);
  }

  private String key(Object[] row) {
    StringJoiner key = new StringJoiner("|");
    for (int column : source.keyColumns()) {
      key.add(String.valueOf(plain(row[column])));
    }
    String whole = key.toString();
    return whole.length() <= MAX_KEY
        ? whole
        : whole.substring(0, MAX_KEY) + "#" + Integer.toHexString(whole.hashCode());
  }

  private static Object plain(Object value) {
    if (value instanceof ZonedDateTime time) {
      return time.toInstant().toString();
    }
    if (value instanceof SparseCounts counts) {
      Map<String, Object> cells = new LinkedHashMap<>();
      for (int i = 0; i < counts.keys().length; i++) {
        cells.put(String.valueOf(counts.keys()[i]), counts.values()[i]);
      }
      return cells;
    }
    return value;
  }

  private static String cut(String text, int length) {
    return text == null || text.length() <= length ? text : text.substring(0, length) + "...";
  }
}
