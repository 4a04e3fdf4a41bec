package dev.sluice.sinks.rejects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.ValidationException;
import org.junit.jupiter.api.Test;

class RejectsOptionsTest {
  private static RejectsOptions options(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(more);
    all.put("rejects.kafka", "a:1,b:2");
    all.put("rejects.clickhouse.url", "https://a:8443,https://b:8443");
    return RejectsOptions.of(Configuration.fromMap(all), all);
  }

  @Test
  void anyPropertyOfTheClientGoesBeforeTheUsualOne() {
    RejectsOptions options =
        options(
            Map.of(
                "rejects.kafka.properties.security.protocol",
                "SSL",
                "rejects.kafka.properties.compression.type",
                "zstd"));
    Map<String, Object> client = LetterTopic.properties(options);
    assertEquals("a:1,b:2", client.get("bootstrap.servers"));
    assertEquals("SSL", client.get("security.protocol"));
    assertEquals("zstd", client.get("compression.type"));
    assertEquals(10_000L, client.get("max.block.ms"));
  }

  @Test
  void thereMayBeSeveralServersAndAnotherDatabase() {
    RejectsOptions options =
        options(
            Map.of(
                "rejects.clickhouse.database",
                "other",
                "rejects.clickhouse.insert-quorum",
                "auto",
                "rejects.clickhouse.password",
                "hidden"));
    assertEquals(2, options.clickhouse().urls().size());
    assertEquals("auto", options.clickhouse().insertQuorum());
    assertEquals("https://a:8443,https://b:8443/other", options.clickhouse().toString());
    assertFalse((options + " " + options.clickhouse()).contains("hidden"));
    assertThrows(
        ValidationException.class,
        () -> options(Map.of("rejects.clickhouse.insert-quorum", "most")));
  }
}
