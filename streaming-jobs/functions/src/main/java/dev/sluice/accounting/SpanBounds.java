package dev.sluice.accounting;

import dev.sluice.otlp.Span;

/** What every span passes before it is counted: an application can make up any number of names. */
public interface SpanBounds {
  /** Nothing is bounded. */
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
   * Puts the name of the rest in the place of names for which there is no room.
   *
   * @return whether the span counts under the rest
   */
  boolean rename(Span span);

  /** Says of a valid span whether only the newest part of it may be spread over windows. */
  void shorten(Span span);
}
