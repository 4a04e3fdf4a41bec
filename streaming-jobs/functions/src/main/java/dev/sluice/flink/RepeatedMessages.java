package dev.sluice.flink;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Marks every message whose bytes came before: a collector that retries sends a whole request
 * again, to any partition. It compares hashes.
 *
 * <p>A message is a repeat when its record time is less than the repeat window from the first one
 * that was read. Only record times decide that, so that the speed of reading does not matter; the
 * timer only frees the state.
 */
final class RepeatedMessages extends KeyedProcessFunction<Tuple2<Long, Long>, Message, Message> {
  private static final long serialVersionUID = 1L;

  private final long windowMs;
  private transient ValueState<Long> firstMs;

  RepeatedMessages(long windowMs) {
    this.windowMs = windowMs;
  }

  @Override
  public void open(OpenContext context) {
    firstMs = getRuntimeContext().getState(new ValueStateDescriptor<>("first", Types.LONG));
  }

  /** Passes a message on; the first message of a window sets the timer. */
  @Override
  public void processElement(Message message, Context context, Collector<Message> out)
      throws Exception {
    Long first = firstMs.value();
    if (first != null && Math.abs(message.recordMs() - first) < windowMs) {
      out.collect(message.asRepeated());
      return;
    }
    firstMs.update(message.recordMs());
    context.timerService().registerEventTimeTimer(message.recordMs() + windowMs);
    out.collect(message);
  }

  /** Forgets the message, unless a later one started another window meanwhile. */
  @Override
  public void onTimer(long nowMs, OnTimerContext context, Collector<Message> out) throws Exception {
    Long first = firstMs.value();
    if (first != null && first + windowMs <= nowMs) {
      firstMs.clear();
    }
  }
}
