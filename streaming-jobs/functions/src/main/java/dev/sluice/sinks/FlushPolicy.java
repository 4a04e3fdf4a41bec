package dev.sluice.sinks;

import java.io.Serializable;
import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * When buffered rows are written; every checkpoint writes them, too.
 *
 * @param maxRows at this many rows
 * @param intervalMs this long after the first of them
 */
public record FlushPolicy(int maxRows, long intervalMs) implements Serializable {
  public static final ConfigOption<Integer> MAX_ROWS =
      ConfigOptions.key("sink.buffer-flush.max-rows")
          .intType()
          .defaultValue(20_000)
          .withDescription("Write when this many rows with different keys wait: 1 to 1000000.");

  public static final ConfigOption<Duration> INTERVAL =
      ConfigOptions.key("sink.buffer-flush.interval")
          .durationType()
          .defaultValue(Duration.ofMillis(500))
          .withDescription("Write when a row has waited for this long: 10 ms to 1 min.");

  /** Reads and checks the options. */
  public static FlushPolicy of(ReadableConfig options) {
    int maxRows = options.get(MAX_ROWS);
    long intervalMs = options.get(INTERVAL).toMillis();
    OptionRange.check(maxRows >= 1 && maxRows <= 1_000_000, MAX_ROWS, maxRows, "1 to 1000000");
    boolean isLegal = intervalMs >= 10 && intervalMs <= 60_000;
    OptionRange.check(isLegal, INTERVAL, intervalMs + " ms", "10 ms to 1 min");
    return new FlushPolicy(maxRows, intervalMs);
  }
}
