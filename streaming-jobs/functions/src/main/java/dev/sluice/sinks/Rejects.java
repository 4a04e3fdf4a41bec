package dev.sluice.sinks;

import java.util.List;

/** Takes the rows that a store refuses, so that none is lost without a trace. */
public interface Rejects extends AutoCloseable {
  /**
   * A row that is not in the store.
   *
   * @param row one value per column of the sink table
   * @param reason one of the few words that rows are counted by: see {@link
   *     RowsRejectedException#reason()}
   * @param detail what the store answered
   */
  record Rejected(Object[] row, String reason, String detail) {}

  /**
   * Keeps the rows and counts them. Doing so twice must not count them twice.
   *
   * @throws Exception if it may succeed when it is tried again
   */
  void setAside(List<Rejected> rows) throws Exception;

  @Override
  void close();
}
