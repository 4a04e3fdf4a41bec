package dev.sluice.accounting;

import dev.sluice.otlp.Span;

/**
 * Bounds that every span passes before it is counted: an application can make up any number of
 * names.
 */
public interface SpanBounds {
  /** No bounds. */
  SpanBounds NONE =
      new SpanBounds() {
        @Override
        public boolean rename(Span span) {
          return false;
        }

        @Override
        public void shorten(Span span) {}
      };

  /**
   * Replaces names for which there is no room by the name of the rest.
   *
   * @return whether the span counts under the rest
   */
  boolean rename(Span span);

  /** Marks a valid span if only its newest part may be spread over windows. */
  void shorten(Span span);
}
