package dev.sluice.traces;

import dev.sluice.bounds.Rest;

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
  static Sighting of(TraceSpan span, long lengthMs) {
    return new Sighting(
        span.service(),
        span.instance(),
        span.host(),
        operationOf(span),
        span.shownWindowMs(lengthMs));
  }

  /** Whether {@link #of} would give this sighting, without making one. */
  boolean covers(TraceSpan span, long lengthMs) {
    return windowMs == span.shownWindowMs(lengthMs)
        && instance.equals(span.instance())
        && operation.equals(operationOf(span))
        && service.equals(span.service())
        && host.equals(span.host());
  }

  private static String operationOf(TraceSpan span) {
    return Rest.isEntry(span.kind(), span.parentId()) ? span.operation() : "";
  }
}
