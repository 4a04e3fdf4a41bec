package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.traces.Sighting;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The instances, hosts and operations that a closed trace shows, one row for each and window. */
final class SeenRows implements TraceRows {
  static final String TYPE =
      "ROW<service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,"
          + " operation STRING NOT NULL, window_start BIGINT NOT NULL>";

  private static final long MS_PER_S = 1_000;

  private final long windowMs;

  SeenRows(Settings settings) {
    windowMs = settings.edgeWindowMs();
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    for (Sighting seen : Sighting.in(trace, windowMs)) {
      out.accept(
          GenericRowData.of(
              text(seen.service()),
              text(seen.instance()),
              text(seen.host()),
              text(seen.operation()),
              seen.windowMs() / MS_PER_S));
    }
  }
}
