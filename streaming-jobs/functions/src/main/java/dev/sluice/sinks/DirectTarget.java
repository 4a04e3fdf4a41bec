package dev.sluice.sinks;

import java.util.List;
import org.apache.flink.table.data.binary.BinaryRowData;

/** A store that also takes Flink's own rows, when nothing is in the way. */
public interface DirectTarget extends BatchTarget {
  /**
   * As {@link #write}, without plain values in between.
   *
   * @return whether the rows are written; false: nothing is, and {@link #write} takes them
   */
  boolean writeDirect(List<BinaryRowData> rows) throws Exception;
}
