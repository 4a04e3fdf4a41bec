package dev.sluice.rules;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.Use;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Side;
import dev.sluice.windows.WindowSums;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Counts the spans that the fine windows do not count, and those that rules set apart among the
 * counted ones, so that people and the decider see them.
 */
public final class LeftOutAccumulator implements SpanStage {
  private static final long NS_PER_MS = 1_000_000;

  private final long windowMs;
  private final Function<Span, String> operationOf;
  private final WindowSums<LeftOutKey, LeftOutCount> sums = new WindowSums<>();

  /**
   * @param windowMs length of a window
   * @param operationOf the name of a span, from a bounded number of names
   */
  public LeftOutAccumulator(long windowMs, Function<Span, String> operationOf) {
    this.windowMs = windowMs;
    this.operationOf = operationOf;
  }

  @Override
  public Outcome accept(Span span) {
    if (span.use() != Use.HELD) {
      add(
          new LeftOutKey(
              Side.of(span).label(),
              span.service(),
              ResourcePoint.peerOf(span),
              span.use().counts() ? "" : operationOf.apply(span),
              LeftOutKey.action(span.use()),
              span.rule()),
          span.endNs(),
          span.durationNs());
    }
    return Outcome.ACCEPTED;
  }

  /**
   * Counts a span that is nested in another. A client span counts without its name, because the
   * number of names is not bounded.
   */
  public void nested(ResourcePoint point, String operation, long endNs, long durationNs) {
    add(
        new LeftOutKey(
            point.side().label(),
            point.service(),
            point.peer(),
            point.side() == Side.CLIENT ? "" : operation,
            LeftOutKey.NESTED,
            LeftOutKey.NESTED),
        endNs,
        durationNs);
  }

  private void add(LeftOutKey left, long endNs, long durationNs) {
    long startMs = Math.floorDiv(endNs / NS_PER_MS, windowMs) * windowMs;
    sums.at(left, startMs, LeftOutCount::new).add(durationNs);
  }

  @Override
  public void clear() {
    sums.clear();
  }

  /** Number of rows. */
  public int rows() {
    return sums.rows();
  }

  /** Passes the counts on, in no order, and clears them. */
  public void drain(BiConsumer<? super LeftOutKey, ? super LeftOutCount> out) {
    sums.drain(out);
  }
}
