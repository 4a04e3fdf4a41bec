package dev.sluice.sinks.rejects;

import dev.sluice.sinks.Rejects;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Keeps rows that a store refuses as dead letters, and counts them in the table {@code
 * rejected_rows}, by their keys: the same row again is no other row.
 */
public final class RejectedRows implements Rejects {
  // Of one batch; the others are counted. A topic that a single fault fills keeps nothing else.
  static final int LETTERS = 100;

  /**
   * What the rows are of.
   *
   * @param store as it is written in letters and counts: {@code clickhouse}, {@code neo4j}
   * @param table the sink table
   * @param columns its columns
   * @param keyColumns positions of those that identify a row
   */
  public record Source(String store, String table, List<String> columns, int[] keyColumns)
      implements Serializable {}

  /** Takes JSON objects, and returns when they are kept. */
  interface Lines extends AutoCloseable {
    void write(List<byte[]> lines) throws Exception;

    @Override
    void close();
  }

  private final RowJson json;
  private final Supplier<Lines> openLetters;
  private final Supplier<Lines> openCounts;
  // Opened by the first row that is refused: most sinks never see one.
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
