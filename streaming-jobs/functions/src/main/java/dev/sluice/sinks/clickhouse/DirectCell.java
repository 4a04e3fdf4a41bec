package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.RowsRejectedException;
import java.io.IOException;
import org.apache.flink.table.data.binary.BinaryRowData;

/** Writes one column of a row. */
@FunctionalInterface
interface DirectCell {
  void write(BinaryRowData row, Bytes out) throws IOException, RowsRejectedException;
}
