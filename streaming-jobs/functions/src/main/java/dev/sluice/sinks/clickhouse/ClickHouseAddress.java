package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.OptionRange;
import dev.sluice.sinks.Secret;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * A database on one server, or on several copies.
 *
 * @param urls HTTP addresses, at least one: the next is tried where one fails
 * @param authority PEM file with the authority of the servers' certificates; "" for Java's
 *     authorities
 * @param insertQuorum how many copies must have a row before it counts as written, or {@code auto}
 *     for most of them; "" for the server's default
 */
public record ClickHouseAddress(
    List<String> urls,
    String database,
    String username,
    Secret password,
    String authority,
    String insertQuorum)
    implements Serializable {

  /** Options of a table, each with the same prefix. */
  public static final class Options {
    public final ConfigOption<String> url;
    private final ConfigOption<String> database;
    private final ConfigOption<String> username;
    private final ConfigOption<String> authority;
    private final ConfigOption<String> insertQuorum;
    private final Secret.Options password;

    /**
     * @param prefix "", or a prefix that ends with a dot
     */
    public Options(String prefix) {
      url =
          ConfigOptions.key(prefix + "url")
              .stringType()
              .noDefaultValue()
              .withDescription("HTTP address; of several copies all, with commas between.");
      database = text(prefix + "database", "sluice");
      username = text(prefix + "username", "default");
      authority = text(prefix + "ca", "");
      insertQuorum = text(prefix + "insert-quorum", "");
      password = Secret.Options.of(prefix + "password");
    }

    private static ConfigOption<String> text(String key, String usual) {
      return ConfigOptions.key(key).stringType().defaultValue(usual);
    }

    /** All options except the URL, which is required. */
    public List<ConfigOption<?>> optional() {
      List<ConfigOption<?>> all = new ArrayList<>(password.all());
      all.addAll(List.of(database, username, authority, insertQuorum));
      return all;
    }

    public ClickHouseAddress from(ReadableConfig options) {
      String quorum = options.get(insertQuorum);
      boolean isLegal = quorum.matches("auto|[0-9]{0,3}");
      OptionRange.check(isLegal, insertQuorum, quorum, "a number or auto");
      return new ClickHouseAddress(
          List.copyOf(Arrays.asList(options.get(url).split(","))),
          options.get(database),
          options.get(username),
          password.from(options),
          options.get(authority),
          quorum);
    }
  }

  @Override
  public String toString() {
    return String.join(",", urls) + "/" + database; // never the password
  }
}
