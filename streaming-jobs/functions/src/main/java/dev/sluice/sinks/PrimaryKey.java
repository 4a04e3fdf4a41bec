package dev.sluice.sinks;

import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.ResolvedSchema;

/** Positions of a sink table's primary key. */
public final class PrimaryKey {
  private PrimaryKey() {}

  /** Positions in the order of the key; a table without one is an error. */
  public static int[] columns(ResolvedSchema schema, String table) {
    int[] columns = schema.getPrimaryKeyIndexes();
    if (columns.length == 0) {
      throw new ValidationException(
          "Table " + table + " needs PRIMARY KEY (...) NOT ENFORCED: rows are written as upserts");
    }
    return columns;
  }
}
