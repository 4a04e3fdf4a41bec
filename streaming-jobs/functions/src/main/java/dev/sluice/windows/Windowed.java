package dev.sluice.windows;

/**
 * What was counted in one window of time, and can be added up.
 *
 * @param <S> itself
 */
public interface Windowed<S> {
  /** Start of the window, ms of the Unix epoch. */
  long windowMs();

  /** Adds what another counted in the same window. */
  void merge(S other);
}
