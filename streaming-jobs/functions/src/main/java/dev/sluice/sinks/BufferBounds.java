package dev.sluice.sinks;

import java.io.Serializable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Bounds of the rows that wait for a store, for each parallel writer. Checkpoints hold these rows.
 *
 * @param maxRows rows with different keys
 * @param maxBytes approximately, on the heap
 */
public record BufferBounds(int maxRows, long maxBytes) implements Serializable {
  public static final ConfigOption<Integer> MAX_ROWS =
      ConfigOptions.key("sink.buffer.max-rows")
          .intType()
          .defaultValue(100_000)
          .withDescription("When more rows wait, the oldest are shed: 1 to 10000000.");

  public static final ConfigOption<MemorySize> MAX_SIZE =
      ConfigOptions.key("sink.buffer.max-size")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(32))
          .withDescription(
              "When waiting rows need more memory, the oldest are shed: 1 mb to 4 gb.");

  /** Reads and checks the options. */
  public static BufferBounds of(ReadableConfig options) {
    int maxRows = options.get(MAX_ROWS);
    long maxBytes = options.get(MAX_SIZE).getBytes();
    OptionRange.check(maxRows >= 1 && maxRows <= 10_000_000, MAX_ROWS, maxRows, "1 to 10000000");
    boolean isLegal = maxBytes >= 1L << 20 && maxBytes <= 1L << 32;
    OptionRange.check(isLegal, MAX_SIZE, options.get(MAX_SIZE), "1 mb to 4 gb");
    return new BufferBounds(maxRows, maxBytes);
  }
}
