package dev.sluice.flink;

import dev.sluice.traces.Sighting;
import dev.sluice.traces.Trace;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** The instances, hosts and operations that closed traces show, one row for each in each window. */
final class SightingSums implements TraceSums {
  static final String TYPE =
      "service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,"
          + " operation STRING NOT NULL, window_start BIGINT NOT NULL";

  private final long windowMs;
  private final Texts texts = new Texts();
  private final Set<Sighting> sightings = new HashSet<>();

  SightingSums(Settings settings) {
    windowMs = settings.edgeWindowMs();
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    Sighting.add(trace, windowMs, sightings);
  }

  @Override
  public int rows() {
    return sightings.size();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    for (Sighting sighting : sightings) {
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
