package dev.sluice.windows;

import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * Sums the spans of one message by key and window.
 *
 * @param <K> the key
 * @param <S> the counts
 */
public abstract class SpanSums<K, S extends Windowed<S>> implements SpanStage {
  private final long lengthMs;
  private final Function<Span, K> keyOf;
  private final BiPredicate<K, Span> covers;
  private final LongFunction<S> empty;
  private final WindowSums<K, S> sums = new WindowSums<>();
  // Spans of one resource are adjacent: most have the key of the span before.
  private K last;

  /**
   * @param lengthMs length of a window
   * @param covers whether {@code keyOf} would give this key, without making one
   * @param empty the counts of a window that starts at this time, in ms of the Unix epoch
   */
  protected SpanSums(
      long lengthMs, Function<Span, K> keyOf, BiPredicate<K, Span> covers, LongFunction<S> empty) {
    this.lengthMs = lengthMs;
    this.keyOf = keyOf;
    this.covers = covers;
    this.empty = empty;
  }

  /** The counts of the span's key in the window that contains this time. */
  protected final S at(Span span, long ms) {
    if (last == null || !covers.test(last, span)) {
      last = keyOf.apply(span);
    }
    return sums.at(last, Math.floorDiv(ms, lengthMs) * lengthMs, empty);
  }

  @Override
  public final void clear() {
    sums.clear();
    last = null;
  }

  /** Visits the counts of the current message, in no order. */
  public final void forEach(BiConsumer<? super K, ? super S> visitor) {
    sums.forEach(visitor);
  }
}
