package dev.sluice.rules;

import dev.sluice.windows.Windowed;

/**
 * How many spans of one kind were not counted, and for how long they were, by window of their end.
 */
public final class LeftCount implements Windowed<LeftCount> {
  private final long windowMs;
  private long spans;
  private long durationNs;

  LeftCount(long windowMs) {
    this.windowMs = windowMs;
  }

  void add(long ns) {
    spans++;
    durationNs += ns;
  }

  @Override
  public void merge(LeftCount other) {
    spans += other.spans;
    durationNs += other.durationNs;
  }

  @Override
  public long windowMs() {
    return windowMs;
  }

  public long spans() {
    return spans;
  }

  /** Sum of their durations. */
  public long durationNs() {
    return durationNs;
  }
}
