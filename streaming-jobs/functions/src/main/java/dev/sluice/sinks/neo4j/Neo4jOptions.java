package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.Secret;
import java.io.Serializable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Where and how the sink writes.
 *
 * @param authority PEM file with the authority of the server's certificate, for a {@code bolt://}
 *     or {@code neo4j://} address with TLS; "" for the address's own default
 * @param cypher a statement over the parameter {@code $rows}, a list of maps by column name
 */
record Neo4jOptions(
    String uri, String database, String username, Secret password, String authority, String cypher)
    implements Serializable {
  static final ConfigOption<String> URI =
      ConfigOptions.key("uri").stringType().noDefaultValue().withDescription("Bolt address.");
  static final ConfigOption<String> DATABASE =
      ConfigOptions.key("database").stringType().defaultValue("neo4j");
  static final ConfigOption<String> USERNAME =
      ConfigOptions.key("username").stringType().defaultValue("neo4j");
  static final Secret.Options PASSWORD = Secret.Options.of("password");
  static final ConfigOption<String> AUTHORITY =
      ConfigOptions.key("ca").stringType().defaultValue("");
  static final ConfigOption<String> CYPHER =
      ConfigOptions.key("cypher")
          .stringType()
          .noDefaultValue()
          .withDescription("Statement over $rows, a list of maps by column name; idempotent.");
  static final ConfigOption<String> NEWEST_BY =
      ConfigOptions.key("newest-by")
          .stringType()
          .defaultValue("")
          .withDescription(
              "A BIGINT column of the key: of rows that differ only in it, the graph keeps the one "
                  + "with the largest, so that the others need not be written.");

  static Neo4jOptions of(ReadableConfig options) {
    return new Neo4jOptions(
        options.get(URI),
        options.get(DATABASE),
        options.get(USERNAME),
        PASSWORD.from(options),
        options.get(AUTHORITY),
        options.get(CYPHER));
  }

  @Override
  public String toString() {
    return uri + "/" + database; // never the password
  }
}
