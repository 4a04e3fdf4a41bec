package dev.sluice.sinks.clickhouse;

import java.io.Serializable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/** The table that the sink writes. */
record ClickHouseOptions(ClickHouseAddress address, String table) implements Serializable {
  static final ClickHouseAddress.Options ADDRESS = new ClickHouseAddress.Options("");
  static final ConfigOption<String> TABLE =
      ConfigOptions.key("table").stringType().noDefaultValue();

  static ClickHouseOptions of(ReadableConfig options) {
    return new ClickHouseOptions(ADDRESS.from(options), options.get(TABLE));
  }

  @Override
  public String toString() {
    return address + "." + table;
  }
}
