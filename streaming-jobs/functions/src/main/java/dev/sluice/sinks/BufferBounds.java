package dev.sluice.sinks;

import java.io.Serializable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;

/**
 * Bounds of the rows that wait for a store that is away, for each parallel writer. Checkpoints hold
 * these rows.
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
    if (maxRows < 1 || maxRows > 10_000_000) {
      throw new ValidationException(
          "'" + MAX_ROWS.key() + "' is " + maxRows + ": it must be 1 to 10000000");
    }
    if (maxBytes < 1L << 20 || maxBytes > 1L << 32) {
      throw new ValidationException(
          "'" + MAX_SIZE.key() + "' is " + options.get(MAX_SIZE) + ": it must be 1 mb to 4 gb");
    }
    return new BufferBounds(maxRows, maxBytes);
  }
}
