package dev.sluice.sampling;

import dev.sluice.latency.LatencyHistogram;
import dev.sluice.otlp.Span;
import dev.sluice.windows.Windowed;

/** What the spans of one service that came in one window say, or show, of samplers before them. */
public final class Sampling implements Windowed<Sampling> {
  private final long windowMs;
  private final Ids ids = new Ids();
  private long spans;
  private long stated;
  private long adjusted;
  private long tail;

  Sampling(long windowMs) {
    this.windowMs = windowMs;
  }

  void add(Span span) {
    spans++;
    stated += span.isSampled() ? 1 : 0;
    adjusted += span.adjusted();
    tail += span.isTailSampled() ? 1 : 0;
    ids.add(Long.reverseBytes(span.traceIdHigh()), Long.reverseBytes(span.traceIdLow()));
  }

  @Override
  public void merge(Sampling other) {
    spans += other.spans;
    stated += other.stated;
    adjusted += other.adjusted;
    tail += other.tail;
    ids.merge(other.ids);
  }

  @Override
  public long windowMs() {
    return windowMs;
  }

  public long spans() {
    return spans;
  }

  /** Those that say that not every trace was kept. */
  public long stated() {
    return stated;
  }

  /** How many spans they stand for, in 1/1,024. */
  public long adjusted() {
    return adjusted;
  }

  /** Those that name the policy of a tail sampler. */
  public long tail() {
    return tail;
  }

  public LatencyHistogram lastBytes() {
    return ids.lastBytes();
  }

  /** The largest and least numbers of their ids, in the order of the table's columns. */
  public long[] bounds() {
    return ids.bounds();
  }
}
