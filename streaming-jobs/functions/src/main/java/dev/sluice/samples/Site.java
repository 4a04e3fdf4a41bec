package dev.sluice.samples;

import dev.sluice.otlp.Span;

/** The container whose latency a sample has: one container of a service, on its host. */
public record Site(String service, String instance, String host) {
  static Site of(Span span) {
    return new Site(span.service(), span.instance(), span.host());
  }

  /** Whether {@link #of} would give this site, without making one. */
  boolean covers(Span span) {
    return service.equals(span.service())
        && instance.equals(span.instance())
        && host.equals(span.host());
  }
}
