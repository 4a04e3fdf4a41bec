package dev.sluice.flink;

import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.delays.Delays;
import dev.sluice.delays.Instance;
import dev.sluice.rules.LeftOutCount;
import dev.sluice.rules.LeftOutKey;
import dev.sluice.samples.Sample;
import dev.sluice.samples.Site;
import dev.sluice.sampling.Sampling;
import dev.sluice.sizes.DataSize;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/** Rows that several functions emit: accounts, and partial rows of the fine windows. */
final class Rows {
  /** SQL type of {@link #rejected}: a dead letter without the position of its message. */
  static final String REJECTED =
      "ROW<reason STRING NOT NULL, detail STRING, service STRING, trace_id STRING,"
          + " span_id STRING, payload BYTES>";

  static final long COUNT_WINDOW_MS = 10_000;

  private Rows() {}

  static GenericRowData partial(Texts texts, ResourcePoint point, Partial partial) {
    return GenericRowData.of(
        texts.of(point.side().label()),
        texts.of(point.service()),
        texts.of(point.peer()),
        texts.of(point.instance()),
        time(partial.bucketMs()),
        partial.busyNs(),
        partial.completions(),
        partial.errors(),
        partial.latency().encode(),
        partial.contributions());
  }

  static GenericRowData counted(OutcomeCounts.Key key, OutcomeCounts.Sums sums, long recordTimeMs) {
    return GenericRowData.of(
        text(key.outcome().label()),
        text(key.service()),
        countWindow(recordTimeMs),
        sums.messages(),
        sums.spans(),
        sums.emitLagMs(),
        sums.contributions());
  }

  /** Start of the 10 s of record time under which a count is kept. */
  static TimestampData countWindow(long recordTimeMs) {
    return time(Math.floorDiv(recordTimeMs, COUNT_WINDOW_MS) * COUNT_WINDOW_MS);
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

  /** A dead letter with the position of its message. */
  static GenericRowData rejected(DeadLetter letter, int partition, long offset) {
    return GenericRowData.of(
        text(letter.reason().label()),
        text(letter.detail()),
        text(letter.service()),
        text(letter.traceId()),
        text(letter.spanId()),
        letter.payload(),
        partition,
        offset);
  }

  static GenericRowData sample(Texts texts, Site site, Sample sample) {
    return GenericRowData.of(
        texts.of(site.service()),
        texts.of(site.instance()),
        texts.of(site.host()),
        time(sample.windowMs()),
        sample.requests(),
        sample.errors(),
        sample.lnSum(),
        sample.lnSum2(),
        sample.latency().encode());
  }

  static GenericRowData size(Texts texts, ResourcePoint point, DataSize size) {
    return GenericRowData.of(
        texts.of(point.side().label()),
        texts.of(point.service()),
        texts.of(point.peer()),
        texts.of(point.instance()),
        time(size.windowMs()),
        size.rowSpans(),
        size.rowSum(),
        size.byteSpans(),
        size.byteSum());
  }

  static GenericRowData left(Texts texts, LeftOutKey left, LeftOutCount count) {
    return GenericRowData.of(
        texts.of(left.side()),
        texts.of(left.service()),
        texts.of(left.peer()),
        texts.of(left.operation()),
        texts.of(left.action()),
        texts.of(left.rule()),
        time(count.windowMs()),
        count.spans(),
        count.durationNs());
  }

  static GenericRowData delay(Texts texts, Instance instance, Delays delays) {
    return GenericRowData.of(
        texts.of(instance.service()),
        texts.of(instance.instance()),
        time(delays.windowMs()),
        delays.spans(),
        delays.leastMs(),
        delays.sumMs());
  }

  static GenericRowData sampling(Texts texts, String service, Sampling sampling) {
    long[] bounds = sampling.bounds();
    return GenericRowData.of(
        texts.of(service),
        time(sampling.windowMs()),
        sampling.spans(),
        sampling.stated(),
        sampling.adjusted(),
        sampling.tail(),
        sampling.lastBytes().encode(),
        bounds[0],
        bounds[1],
        bounds[2],
        bounds[3],
        bounds[4],
        bounds[5],
        bounds[6]);
  }

  /** Emits the accounts of one message through rows whose other columns are NULL. */
  static void emitAccounts(
      OutcomeCounts counts, List<DeadLetter> letters, long recordTimeMs, Consumer<RowData> out) {
    counts.forEach(
        (key, sums) ->
            out.accept(GenericRowData.of(null, null, counted(key, sums, recordTimeMs), null)));
    for (DeadLetter letter : letters) {
      out.accept(GenericRowData.of(null, null, null, rejected(letter)));
    }
  }

  static StringData text(String value) {
    return StringData.fromString(value);
  }

  /** A value of DECIMAL(38, 0). */
  static DecimalData squares(BigDecimal ns2) {
    return DecimalData.fromBigDecimal(ns2, 38, 0);
  }

  /** A time in ms as the BIGINT of a window's start, in s. */
  static long seconds(long epochMs) {
    return epochMs / 1_000;
  }

  static TimestampData time(long epochMs) {
    return TimestampData.fromEpochMillis(epochMs);
  }
}
