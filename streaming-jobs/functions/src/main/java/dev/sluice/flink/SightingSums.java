package dev.sluice.flink;

import dev.sluice.traces.Sighting;
import dev.sluice.traces.Sightings;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The instances, hosts and operations that closed traces show, one row for each in each window. */
final class SightingSums implements TraceSums {
  static final String TYPE =
      "service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,"
          + " operation STRING NOT NULL, window_start BIGINT NOT NULL";

  private final Texts texts = new Texts();
  private final Sightings sightings;

  SightingSums(Settings settings) {
    sightings = new Sightings(settings.edgeWindowMs());
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    sightings.add(trace);
  }

  @Override
  public int rows() {
    return sightings.all().size();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    for (Sighting sighting : sightings.all()) {
      out.accept(
          GenericRowData.of(
              texts.of(sighting.service()),
              texts.of(sighting.instance()),
              texts.of(sighting.host()),
              texts.of(sighting.operation()),
              Rows.seconds(sighting.windowMs())));
    }
    sightings.clear();
  }
}
