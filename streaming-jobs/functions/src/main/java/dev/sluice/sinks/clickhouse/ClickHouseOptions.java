package dev.sluice.sinks.clickhouse;

import java.io.Serializable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Where the sink writes.
 *
 * @param url HTTP address
 */
record ClickHouseOptions(
    String url, String database, String table, String username, String password)
    implements Serializable {
  static final ConfigOption<String> URL =
      ConfigOptions.key("url").stringType().noDefaultValue().withDescription("HTTP address.");
  static final ConfigOption<String> DATABASE =
      ConfigOptions.key("database").stringType().defaultValue("sluice");
  static final ConfigOption<String> TABLE =
      ConfigOptions.key("table").stringType().noDefaultValue();
  static final ConfigOption<String> USERNAME =
      ConfigOptions.key("username").stringType().defaultValue("default");
  static final ConfigOption<String> PASSWORD =
      ConfigOptions.key("password").stringType().defaultValue("");

  static ClickHouseOptions of(ReadableConfig options) {
    return new ClickHouseOptions(
        options.get(URL),
        options.get(DATABASE),
        options.get(TABLE),
        options.get(USERNAME),
        options.get(PASSWORD));
  }

  @Override
  public String toString() {
    return url + "/" + database + "." + table; // never the password
  }
}
