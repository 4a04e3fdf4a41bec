package dev.sluice.sinks.rejects;

import dev.sluice.sinks.clickhouse.ClickHouseAddress;
import java.io.Serializable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * The destination of refused rows.
 *
 * @param kafka properties of the client that writes dead letters: {@code bootstrap.servers}, and
 *     any further ones
 * @param topic of dead letters
 * @param clickhouse that counts them
 */
public record RejectsOptions(Map<String, String> kafka, String topic, ClickHouseAddress clickhouse)
    implements Serializable {
  /** Prefix of properties, which may be any of the Kafka client's. */
  public static final String PROPERTIES = "rejects.kafka.properties.";

  private static final ConfigOption<String> KAFKA =
      ConfigOptions.key("rejects.kafka")
          .stringType()
          .noDefaultValue()
          .withDescription("Bootstrap servers of the topic for rows that the store refuses.");
  private static final ConfigOption<String> TOPIC =
      ConfigOptions.key("rejects.topic").stringType().defaultValue("otlp_dead_letter");
  // The ClickHouse with the table rejected_rows.
  private static final ClickHouseAddress.Options CLICKHOUSE =
      new ClickHouseAddress.Options("rejects.clickhouse.");

  public RejectsOptions {
    kafka = new HashMap<>(kafka); // Flink serializes it
  }

  /** Options that a sink requires, besides its own. */
  public static Set<ConfigOption<?>> required(ConfigOption<?>... own) {
    Set<ConfigOption<?>> all = new HashSet<>(List.of(own));
    all.addAll(List.of(KAFKA, CLICKHOUSE.url));
    return all;
  }

  /** Options that a sink accepts, besides its own. */
  public static Set<ConfigOption<?>> optional(List<ConfigOption<?>> own) {
    Set<ConfigOption<?>> all = new HashSet<>(own);
    all.addAll(CLICKHOUSE.optional());
    all.add(TOPIC);
    return all;
  }

  /**
   * @param table all options of the table
   */
  public static RejectsOptions of(ReadableConfig options, Map<String, String> table) {
    Map<String, String> kafka = new HashMap<>();
    table.forEach(
        (key, value) -> {
          if (key.startsWith(PROPERTIES)) {
            kafka.put(key.substring(PROPERTIES.length()), value);
          }
        });
    kafka.put("bootstrap.servers", options.get(KAFKA));
    return new RejectsOptions(kafka, options.get(TOPIC), CLICKHOUSE.from(options));
  }

  @Override
  public String toString() {
    return kafka.get("bootstrap.servers") + "/" + topic; // never the password
  }
}
