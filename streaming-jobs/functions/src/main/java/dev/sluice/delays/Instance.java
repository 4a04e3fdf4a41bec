package dev.sluice.delays;

import dev.sluice.otlp.Span;

/** One instance of a service, whose clock timed a span. */
public record Instance(String service, String instance) {
  static Instance of(Span span) {
    return new Instance(span.service(), span.instance());
  }

  /** Whether {@link #of} would give this instance, without making one. */
  boolean covers(Span span) {
    return service.equals(span.service()) && instance.equals(span.instance());
  }
}
