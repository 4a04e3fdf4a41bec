package dev.sluice.flink;

import dev.sluice.samples.OwnTimes;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The own times of the containers in a closed trace, one row for each container and window. */
final class OwnRows implements TraceRows {
  static final String TYPE =
      "ROW<service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,"
          + " window_start BIGINT NOT NULL, requests BIGINT NOT NULL, errors BIGINT NOT NULL,"
          + " ln_sum BIGINT NOT NULL, ln_sum2 BIGINT NOT NULL, latency BYTES NOT NULL>";

  private static final long MS_PER_S = 1_000;

  private final long windowMs;
  private final Texts texts = new Texts();

  OwnRows(Settings settings) {
    windowMs = settings.sampleWindowMs();
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    OwnTimes.of(
        trace,
        windowMs,
        (site, sample) ->
            out.accept(
                GenericRowData.of(
                    texts.of(site.service()),
                    texts.of(site.instance()),
                    texts.of(site.host()),
                    sample.windowMs() / MS_PER_S,
                    sample.requests(),
                    sample.errors(),
                    sample.lnSum(),
                    sample.lnSum2(),
                    sample.latency().encode())));
  }
}
