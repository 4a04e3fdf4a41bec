package dev.sluice.flink;

import dev.sluice.samples.OwnTimes;
import dev.sluice.samples.Sample;
import dev.sluice.samples.Site;
import dev.sluice.traces.Trace;
import dev.sluice.windows.WindowSums;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The own times of the containers in closed traces, one row for each container and window. */
final class OwnSums implements TraceSums {
  private final long windowMs;
  private final Texts texts = new Texts();
  private final WindowSums<Site, Sample> sums = new WindowSums<>();

  OwnSums(Settings settings) {
    windowMs = settings.sampleWindowMs();
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    OwnTimes.add(trace, windowMs, sums);
  }

  @Override
  public int rows() {
    return sums.rows();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    sums.drain(
        (site, sample) ->
            out.accept(
                GenericRowData.of(
                    texts.of(site.service()),
                    texts.of(site.instance()),
                    texts.of(site.host()),
                    Rows.seconds(sample.windowMs()),
                    sample.requests(),
                    sample.errors(),
                    sample.lnSum(),
                    sample.lnSum2(),
                    sample.latency().encode())));
  }
}
