package dev.sluice.sinks;

import java.util.List;

/** A store that takes rows in batches. Writing a row again must not change anything. */
public interface BatchTarget extends AutoCloseable {
  /**
   * Writes all rows, or throws.
   *
   * @param rows each with one value per column of the sink table
   * @throws RowsRejectedException if trying again cannot help
   * @throws TooLargeException if the store may take fewer rows at once
   * @throws Exception if trying again may help: the store is away, overloaded or not set up yet
   */
  void write(List<Object[]> rows) throws Exception;

  @Override
  void close();
}
