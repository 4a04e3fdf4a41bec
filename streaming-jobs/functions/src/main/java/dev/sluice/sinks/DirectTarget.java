package dev.sluice.sinks;

import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;

/** A store that also takes Flink's own rows, in the normal case. */
public interface DirectTarget extends BatchTarget {
  /**
   * Writes as {@link #write}, but without converting the values.
   *
   * @return whether the rows are written; false: none is, and {@link #write} has to write them
   */
  boolean writeDirect(List<BinaryRowData> rows) throws Exception;
}
