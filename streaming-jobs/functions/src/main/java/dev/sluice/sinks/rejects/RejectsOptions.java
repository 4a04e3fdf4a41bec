package dev.sluice.sinks.rejects;

import java.io.Serializable;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Where the rows go that a store refuses.
 *
 * @param kafka bootstrap servers
 * @param topic of dead letters
 * @param url HTTP address of the ClickHouse that counts them
 */
public record RejectsOptions(
    String kafka, String topic, String url, String database, String username, String password)
    implements Serializable {
  private static final ConfigOption<String> KAFKA =
      ConfigOptions.key("rejects.kafka")
          .stringType()
          .noDefaultValue()
          .withDescription("Bootstrap servers of the topic for rows that the store refuses.");
  private static final ConfigOption<String> TOPIC =
      ConfigOptions.key("rejects.topic").stringType().defaultValue("otlp_dead_letter");
  private static final ConfigOption<String> URL =
      ConfigOptions.key("rejects.clickhouse.url")
          .stringType()
          .noDefaultValue()
          .withDescription("HTTP address of the ClickHouse with the table rejected_rows.");
  private static final ConfigOption<String> DATABASE =
      ConfigOptions.key("rejects.clickhouse.database").stringType().defaultValue("sluice");
  private static final ConfigOption<String> USERNAME =
      ConfigOptions.key("rejects.clickhouse.username").stringType().defaultValue("default");
  private static final ConfigOption<String> PASSWORD =
      ConfigOptions.key("rejects.clickhouse.password").stringType().defaultValue("");

  /** Options that a sink must be given, besides its own. */
  public static Set<ConfigOption<?>> required(ConfigOption<?>... own) {
    return together(own, KAFKA, URL);
  }

  /** Options that it may be given, besides its own. */
  public static Set<ConfigOption<?>> optional(ConfigOption<?>... own) {
    return together(own, TOPIC, DATABASE, USERNAME, PASSWORD);
  }

  private static Set<ConfigOption<?>> together(ConfigOption<?>[] own, ConfigOption<?>... more) {
    return Stream.concat(Stream.of(own), Stream.of(more)).collect(Collectors.toUnmodifiableSet());
  }

  public static RejectsOptions of(ReadableConfig options) {
    return new RejectsOptions(
        options.get(KAFKA),
        options.get(TOPIC),
        options.get(URL),
        options.get(DATABASE),
        options.get(USERNAME),
        options.get(PASSWORD));
  }

  @Override
  public String toString() {
    return kafka + "/" + topic; // never the password
  }
}
