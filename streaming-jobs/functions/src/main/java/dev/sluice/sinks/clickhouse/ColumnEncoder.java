package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.RowsRejectedException;
import java.io.IOException;
import org.apache.flink.table.data.binary.BinaryRowData;

/** Encodes one column of a row. */
@FunctionalInterface
interface ColumnEncoder {
  void encode(BinaryRowData row, RowBinaryBuffer out) throws IOException, RowsRejectedException;
}
