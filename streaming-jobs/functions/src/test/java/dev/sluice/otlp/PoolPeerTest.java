package dev.sluice.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolPeerTest {
  private final PoolPeer peers = new PoolPeer();

  @ParameterizedTest
  @CsvSource({
    // A usual port is left out, unless the address is an IP, as in spans.
    "db:5432/shop, db/shop",
    "db:5433/shop, db:5433/shop",
    "db:5432/shop|app, db/shop",
    "db:5433|app, db:5433",
    "127.0.0.1:5432/petclinic, 127.0.0.1:5432/petclinic",
    "cache:6380, cache:6380",
    "cache:6379, cache",
    "[::1]:5432/shop, [::1]:5432/shop",
    "postgresql://db:5432/shop, db/shop",
    "postgresql+psycopg2://db:5432/shop?sslmode=require, db/shop",
    "mysql://db/shop, db/shop",
    "Host=db;Port=5432;Database=shop;Username=u, db/shop",
    "Server=db;User ID=u;Database=shop, db/shop",
    "Data Source=sql-1;Initial Catalog=shop, sql-1/shop",
  })
  void theNameOfAPoolMayHaveItsPeer(String pool, String peer) {
    assertThat(peers.of(Map.of(), pool)).isEqualTo(peer);
  }

  @ParameterizedTest
  @CsvSource({
    "HikariPool-1",
    "HikariPool-1|app",
    "dataSource",
    "unknown_host:unknown_port/unknown_database",
    "db:0/shop",
    "db:65536",
    "a=b",
    "/var/run/postgresql",
    "sqlite:///shop.db",
    "''",
    "http-nio-8080",
  })
  void anotherNameHasNone(String pool) {
    assertThat(peers.of(Map.of(), pool)).isEmpty();
  }

  @Test
  void attributesGoBeforeTheName() {
    assertThat(
            peers.of(
                Map.of("server.address", "pg", "server.port", "5433", "db.namespace", "shop"),
                "db:5432/other"))
        .isEqualTo("pg:5433/shop");
    assertThat(peers.of(Map.of("net.peer.name", "pg", "db.name", "shop"), "x"))
        .isEqualTo("pg/shop");
    assertThat(peers.of(Map.of("server.address", "pg", "server.port", "many"), "x"))
        .isEqualTo("pg");
    assertThat(peers.of(Map.of("db.namespace", "shop"), "db:5432")).isEqualTo("db/shop");
    assertThat(peers.of(Map.of("db.namespace", "shop"), "HikariPool-1")).isEmpty();
  }
}
