package dev.sluice.accounting;

import dev.sluice.otlp.Span;

/** What a job does with the valid spans of a message. */
public interface SpanStage {
  /**
   * Takes one valid span, which is the caller's again afterwards.
   *
   * @return {@link Outcome#ACCEPTED} or {@link Outcome#ACCEPTED_CUT}
   */
  Outcome accept(Span span);

  /** Forgets the spans of the current message. */
  void clear();
}
