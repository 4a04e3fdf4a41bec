package dev.sluice.sinks;

import java.util.List;

/** Takes the rows that a store refuses, so that each is recorded. */
public interface Rejects extends AutoCloseable {
  /**
   * A row that is not in the store.
   *
   * @param row one value per column of the sink table
   * @param reason one of the few words that rows are counted by: see {@link
   *     RowsRejectedException#reason()}
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
