package dev.sluice.sampling;

import dev.sluice.accounting.Outcome;
import dev.sluice.otlp.Span;
import dev.sluice.windows.SpanSums;

/** Sums what the spans of one message say of samplers, by service, in the window of the record. */
public final class SamplingAccumulator extends SpanSums<String, Sampling> {
  private long recordMs;
  // Of the span before: all spans of a message are of one window, those of a resource of one
  // service.
  private String service;
  private Sampling ofService;

  /**
   * @param windowMs length of a window
   */
  public SamplingAccumulator(long windowMs) {
    super(
        windowMs, Span::service, (service, span) -> service.equals(span.service()), Sampling::new);
  }

  /** When the next message came, ms of the Unix epoch. */
  public void at(long recordMs) {
    this.recordMs = recordMs;
    service = null;
  }

  @Override
  public Outcome accept(Span span) {
    if (!span.service().equals(service)) {
      service = span.service();
      ofService = at(span, recordMs);
    }
    ofService.add(span);
    return Outcome.ACCEPTED;
  }
}
