package dev.sluice.accounting;

import dev.sluice.otlp.Span;

/** A job's processing of the valid spans of a message. */
public interface SpanStage {
  /**
   * Takes one valid span, which the caller reuses afterwards.
   *
   * @return {@link Outcome#ACCEPTED} or {@link Outcome#ACCEPTED_CUT}
   */
  Outcome accept(Span span);

  /** Forgets the spans of the current message. */
  void clear();
}
