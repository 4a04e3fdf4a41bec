package dev.sluice.windows;

/**
 * Counts of one window of time, which can be summed.
 *
 * @param <S> itself
 */
public interface Windowed<S> {
  /** Start of the window, ms of the Unix epoch. */
  long windowMs();

  /** Adds the counts of another in the same window. */
  void merge(S other);
}
