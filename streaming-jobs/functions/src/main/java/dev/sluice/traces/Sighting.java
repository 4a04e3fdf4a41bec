package dev.sluice.traces;

import dev.sluice.bounds.Rest;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * That an instance of a service was there in a window, and what it was asked to do.
 *
 * @param instance "" where spans do not name one
 * @param host "" where that is not known
 * @param operation of a span by which the service was entered: SERVER, CONSUMER, or a root; of
 *     others ""
 * @param windowMs start of the window that contains the span's end, or its record time where that
 *     is earlier, ms of the Unix epoch
 */
public record Sighting(
    String service, String instance, String host, String operation, long windowMs) {
  /** What a trace shows, each once. */
  public static Set<Sighting> in(Trace trace, long windowMs) {
    Set<Sighting> sightings = new LinkedHashSet<>();
    add(trace, windowMs, sightings);
    return sightings;
  }

  /** Adds what a trace shows to what others did. */
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
