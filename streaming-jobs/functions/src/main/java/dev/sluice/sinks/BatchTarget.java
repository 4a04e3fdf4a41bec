package dev.sluice.sinks;

import java.util.List;

/**
 * A store that takes rows in batches. Writing a row again must not change anything.
 *
 * @param <R> a row
 */
public interface BatchTarget<R> extends AutoCloseable {
  /**
   * Writes all rows, or throws.
   *
   * @throws RowsRejectedException if trying again cannot help
   * @throws TooLargeException if the store may take fewer rows at once
   * @throws TableAtFaultException if the store takes no row
   * @throws Exception if trying again may help: the store is away, overloaded or not set up yet
   */
  void write(List<R> rows) throws Exception;

  @Override
  void close();
}
