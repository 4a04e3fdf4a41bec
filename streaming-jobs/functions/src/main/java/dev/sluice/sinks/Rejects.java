package dev.sluice.sinks;

import java.util.List;

/** Records the rows that a store refuses. */
public interface Rejects extends AutoCloseable {
  /**
   * A row that the store does not have.
   *
   * @param row one value per column of the sink table
   * @param reason the word under which the row counts: see {@link RowsRejectedException#reason()}
   * @param detail the store's answer
   */
  record Rejected(Object[] row, String reason, String detail) {}

  /**
   * Keeps the rows and counts them. A second call with the same rows must not count them twice.
   *
   * @throws Exception if another attempt may succeed
   */
  void setAside(List<Rejected> rows) throws Exception;

  @Override
  void close();
}
