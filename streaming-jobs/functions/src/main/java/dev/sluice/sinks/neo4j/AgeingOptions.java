package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.OptionRange;
import java.io.Serializable;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * How old elements are removed.
 *
 * @param newest a statement that returns the newest time in the graph, in s, or null
 * @param removals statements that remove at most {@code $limit} elements older than {@code
 *     $oldest}, in s, and return the number removed
 * @param maxAgeS how long before the newest time an element is old
 */
record AgeingOptions(String newest, List<String> removals, long maxAgeS, Duration interval)
    implements Serializable {
  static final ConfigOption<String> CYPHER =
      ConfigOptions.key("ageing.cypher")
          .stringType()
          .defaultValue("")
          .withDescription(
              "Statements, each ended by a semicolon at the end of a line: the first returns the "
                  + "newest time in the graph, the others remove up to $limit of what is older than "
                  + "$oldest and return how much. \"\": nothing ages.");
  static final ConfigOption<Duration> MAX_AGE =
      ConfigOptions.key("ageing.max-age").durationType().defaultValue(Duration.ofHours(1));
  static final ConfigOption<Duration> INTERVAL =
      ConfigOptions.key("ageing.interval")
          .durationType()
          .defaultValue(Duration.ofSeconds(10))
          .withDescription("How long after one round the next begins: at least 100 ms.");

  /** Null where nothing ages. */
  static AgeingOptions of(ReadableConfig options) {
    List<String> statements =
        Arrays.stream(options.get(CYPHER).split(";\\s*(\\n|$)"))
            .map(String::strip)
            .filter(statement -> !statement.isEmpty())
            .toList();
    if (statements.isEmpty()) {
      return null;
    }
    Duration interval = options.get(INTERVAL);
    long intervalMs = interval.toMillis();
    OptionRange.check(intervalMs >= 100, INTERVAL, intervalMs + " ms", "at least 100 ms");
    List<String> removals = List.copyOf(statements.subList(1, statements.size()));
    return new AgeingOptions(
        statements.get(0), removals, options.get(MAX_AGE).toSeconds(), interval);
  }
}
