package dev.sluice.sinks.rejects;

import dev.sluice.sinks.Rejects;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Keeps rows that a store refuses as dead letters, and counts them in the table {@code
 * rejected_rows}, by their keys: the same row again does not count again.
 */
public final class RejectedRows implements Rejects {
  // Letters of one batch; further rows are only counted. Otherwise a single fault could fill the
  // topic.
  static final int LETTERS = 100;

  /**
   * The origin of the rows.
   *
   * @param store its name in letters and counts: {@code clickhouse}, {@code neo4j}
   * @param table the sink table
   * @param columns its columns
   * @param keyColumns positions of the identifying columns
   */
  public record Source(String store, String table, List<String> columns, int[] keyColumns)
      implements Serializable {}

  /** Takes JSON objects, and returns when they are stored. */
  interface Lines extends AutoCloseable {
    void write(List<byte[]> lines) throws Exception;

    @Override
    void close();
  }

  private final RowJson json;
  private final Supplier<Lines> openLetters;
  private final Supplier<Lines> openCounts;
  // Opened by the first refused row: most sinks never have one.
  private Lines letters;
  private Lines counts;

  public RejectedRows(Source source, RejectsOptions options) {
    this(source, () -> new LetterTopic(options), () -> new RejectedRowsTable(options));
  }

  RejectedRows(Source source, Supplier<Lines> openLetters, Supplier<Lines> openCounts) {
    this.json = new RowJson(source);
    this.openLetters = openLetters;
    this.openCounts = openCounts;
  }

  @Override
  public void setAside(List<Rejected> rows) throws Exception {
    if (letters == null) {
      letters = openLetters.get();
    }
    if (counts == null) {
      counts = openCounts.get();
    }
    List<byte[]> kept = new ArrayList<>();
    for (Rejected row : rows.subList(0, Math.min(LETTERS, rows.size()))) {
      kept.add(json.letter(row));
    }
    letters.write(kept);
    List<byte[]> counted = new ArrayList<>();
    for (Rejected row : rows) {
      counted.add(json.count(row));
    }
    counts.write(counted);
  }

  @Override
  public void close() {
    if (letters != null) {
      letters.close();
    }
    if (counts != null) {
      counts.close();
    }
  }
}
