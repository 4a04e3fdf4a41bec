package dev.sluice.flink;

import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.OutcomeCounts;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/** Rows that the functions of every job emit for their accounts. */
final class Rows {
  /** SQL type of {@link #counted}: a row of {@code ingest_counts} without its job. */
  static final String COUNTED =
      "ROW<outcome STRING NOT NULL, service STRING NOT NULL, received TIMESTAMP_LTZ(3) NOT NULL,"
          + " messages BIGINT NOT NULL, spans BIGINT NOT NULL, emit_lag_ms BIGINT NOT NULL,"
          + " contributions BIGINT NOT NULL>";

  /** SQL type of {@link #rejected}: a dead letter without the position of its message. */
  static final String REJECTED =
      "ROW<reason STRING NOT NULL, detail STRING, service STRING, trace_id STRING,"
          + " span_id STRING, payload BYTES>";

  private static final long COUNT_WINDOW_MS = 10_000;

  private Rows() {}

  static GenericRowData counted(OutcomeCounts.Key key, OutcomeCounts.Sums sums, long recordTimeMs) {
    return GenericRowData.of(
        text(key.outcome().label()),
        text(key.service()),
        time(Math.floorDiv(recordTimeMs, COUNT_WINDOW_MS) * COUNT_WINDOW_MS),
        sums.messages(),
        sums.spans(),
        sums.emitLagMs(),
        sums.contributions());
  }

  static GenericRowData rejected(DeadLetter letter) {
    return GenericRowData.of(
        text(letter.reason().label()),
        text(letter.detail()),
        text(letter.service()),
        text(letter.traceId()),
        text(letter.spanId()),
        letter.payload());
  }

  /** Emits the accounts of one message through rows whose other columns are NULL. */
  static void emitAccounts(
      dev.sluice.accounting.MessageReader reader, long recordTimeMs, Consumer<RowData> out) {
    emitAccounts(reader.counts(), reader.deadLetters(), recordTimeMs, out);
  }

  static void emitAccounts(
      OutcomeCounts counts, List<DeadLetter> letters, long recordTimeMs, Consumer<RowData> out) {
    counts.forEach(
        (key, sums) -> out.accept(GenericRowData.of(null, counted(key, sums, recordTimeMs), null)));
    for (DeadLetter letter : letters) {
      out.accept(GenericRowData.of(null, null, rejected(letter)));
    }
  }

  static StringData text(String value) {
    return StringData.fromString(value);
  }

  static TimestampData time(long epochMs) {
    return TimestampData.fromEpochMillis(epochMs);
  }
}
