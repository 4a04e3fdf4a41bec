package dev.sluice.rules;

import dev.sluice.windows.Windowed;

/**
 * Number and total duration of the spans of one kind that were not counted, by window of their end.
 */
public final class LeftOutCount implements Windowed<LeftOutCount> {
  private final long windowMs;
  private long spans;
  private long durationNs;

  LeftOutCount(long windowMs) {
    this.windowMs = windowMs;
  }

  void add(long ns) {
    spans++;
    durationNs += ns;
  }

  @Override
  public void merge(LeftOutCount other) {
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
