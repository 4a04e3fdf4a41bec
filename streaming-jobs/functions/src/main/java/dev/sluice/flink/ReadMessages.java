package dev.sluice.flink;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import dev.sluice.clock.Clock;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;

/**
 * Takes rows of {@code otlp_spans} as {@link Message}s, in the task that reads the topic, and emits
 * the position of each, in the order of its partition, which later tasks no longer know. A message
 * without a byte has no span: the watermark has seen its record time, and the message is dropped.
 * The first of these tasks runs the {@link Clock} that writes such messages.
 *
 * <p>A message's hash is 128 bits of XXH3 over its bytes; a tombstone counts as no bytes. Two
 * different messages share a hash, so that the later one counts as a repeat, with a probability of
 * 2^-128 a pair: with a billion messages within the repeat window, 1.5e-21. The hash is not
 * cryptographic: a client that can write to the topic can make two messages collide, but could as
 * well write wrong spans. The seed is part of the state that savepoints hold: it never changes.
 */
final class ReadMessages extends ProcessFunction<RowData, Message> {
  private static final long serialVersionUID = 1L;
  private static final Hasher128 XXH3 = Hashing.xxh3_128(0x51ce);
  private static final byte[] NOTHING = {};
  private static final int TIME_DIGITS = 3;

  private final boolean hashed;
  private final Clock clock;
  private transient AutoCloseable running;

  /**
   * @param hashed whether repeats are detected
   * @param clock of the topic; null: none
   */
  ReadMessages(boolean hashed, Clock clock) {
    this.hashed = hashed;
    this.clock = clock;
  }

  @Override
  public void open(OpenContext context) {
    if (clock != null && getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0) {
      running = clock.start(getRuntimeContext().getMetricGroup());
    }
  }

  @Override
  public void close() throws Exception {
    if (running != null) {
      running.close();
    }
  }

  @Override
  public void processElement(RowData row, Context context, Collector<Message> out) {
    byte[] bytes = row.isNullAt(0) ? null : row.getBinary(0);
    long recordMs = row.getTimestamp(1, TIME_DIGITS).getMillisecond();
    int partition = row.getInt(2);
    long offset = row.getLong(3);
    context.output(
        SpanView.POSITION.tag(), GenericRowData.of(partition, offset, Rows.time(recordMs)));
    if (bytes != null && bytes.length == 0) {
      return;
    }
    long high = 0;
    long low = 0;
    if (hashed) {
      HashValue128 hash = XXH3.hashBytesTo128Bits(bytes == null ? NOTHING : bytes);
      high = hash.getMostSignificantBits();
      low = hash.getLeastSignificantBits();
    }
    out.collect(new Message(bytes, recordMs, partition, offset, high, low, false));
  }
}
