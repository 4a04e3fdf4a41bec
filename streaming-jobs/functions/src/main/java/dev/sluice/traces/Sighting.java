package dev.sluice.traces;

import dev.sluice.bounds.Rest;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * An instance of a service that existed in a window, and the operation requested of it.
 *
 * @param instance "" where spans have none
 * @param host "" where that is not known
 * @param operation of a span that entered the service: SERVER, CONSUMER, or a root; "" for others
 * @param windowMs start of the window that contains the span's end, or its record time where that
 *     is earlier, ms of the Unix epoch
 */
public record Sighting(
    String service, String instance, String host, String operation, long windowMs) {
  /** The sightings of a trace, each once. */
  public static Set<Sighting> in(Trace trace, long windowMs) {
    Set<Sighting> sightings = new LinkedHashSet<>();
    add(trace, windowMs, sightings);
    return sightings;
  }

  /** Adds the sightings of a trace to those of others. */
  public static void add(Trace trace, long windowMs, Set<Sighting> sightings) {
    for (TraceSpan span : trace.spans()) {
      boolean entry = Rest.isEntry(span.kind(), span.parentId());
      sightings.add(
          new Sighting(
              span.service(),
              span.instance(),
              span.host(),
              entry ? span.operation() : "",
              span.shownWindowMs(windowMs)));
    }
  }
}
