package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * That an instance of a service was there in a window, and what it was asked to do.
 *
 * @param instance "" where spans do not name one
 * @param host "" where that is not known
 * @param operation of a span by which the service was entered: SERVER, CONSUMER, or a root; of
 *     others ""
 * @param windowMs start of the window that contains the span's end, ms of the Unix epoch
 */
public record Sighting(
    String service, String instance, String host, String operation, long windowMs) {
  /** What a trace shows, each once. */
  public static Set<Sighting> in(Trace trace, long windowMs) {
    Set<Sighting> sightings = new LinkedHashSet<>();
    for (TraceSpan span : trace.spans()) {
      boolean entry =
          span.kind() == Span.SERVER || span.kind() == Span.CONSUMER || span.parentId() == 0;
      sightings.add(
          new Sighting(
              span.service(),
              span.instance(),
              span.host(),
              entry ? span.operation() : "",
              span.windowMs(windowMs)));
    }
    return sightings;
  }
}
