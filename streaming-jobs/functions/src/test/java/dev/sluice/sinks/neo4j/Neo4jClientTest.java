package dev.sluice.sinks.neo4j;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.sinks.Secret;
import dev.sluice.sinks.SettingException;
import dev.sluice.sinks.TlsServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.neo4j.driver.exceptions.ServiceUnavailableException;

@Timeout(60)
class Neo4jClientTest {
  @TempDir Path folder;

  private static Neo4jClient client(int port) {
    String uri = "bolt://127.0.0.1:" + port;
    return new Neo4jClient(
        new Neo4jOptions(uri, "neo4j", "neo4j", new Secret("secret", "", ""), "", "RETURN 1"), 500);
  }

  @Test
  void aServerThatAcceptsAndNeverAnswersHoldsUpNobody() throws Exception {
    // Connections wait in the backlog, and are never taken.
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Neo4jClient client = client(silent.getLocalPort())) {
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThatThrownBy(() -> client.run("RETURN 1", Map.of()))
            .isInstanceOf(TimeoutException.class)
            .hasMessageMatching("bolt://127.0.0.1:\\d+ did not answer within 500 ms");
      }
    }
  }

  @Test
  void saysWhichSettingKeepsItOut() throws Exception {
    Path authority = folder.resolve("ca.pem");
    try (TlsServer there = new TlsServer(folder.resolve("there"), exchange -> exchange.close());
        TlsServer other = new TlsServer(folder.resolve("other"), exchange -> exchange.close())) {
      String uri = "bolt://127.0.0.1:" + there.port();
      Secret secret = new Secret("secret", "", "");
      String ca = authority.toString();
      try (Neo4jClient client =
          new Neo4jClient(new Neo4jOptions(uri, "neo4j", "neo4j", secret, ca, "RETURN 1"))) {
        assertThatThrownBy(() -> client.run("RETURN 1", Map.of()))
            .isInstanceOf(SettingException.class)
            .hasMessage("read SLUICE_NEO4J_CA=" + ca + ": there is no such file on this host");
        Files.writeString(authority, other.certificate);
        assertThatThrownBy(() -> client.run("RETURN 1", Map.of()))
            .isInstanceOf(SettingException.class)
            .hasMessageStartingWith("TLS with " + uri + " fails, SLUICE_NEO4J_CA=" + ca + ": ");
        // It is read anew. What answers speaks TLS, and no Bolt.
        Files.writeString(authority, there.certificate);
        assertThatThrownBy(() -> client.run("RETURN 1", Map.of()))
            .isNotInstanceOf(SettingException.class);
      }
    }
  }

  @Test
  void aServerThatIsNotThereIsTold() throws Exception {
    int port;
    try (ServerSocket held = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      port = held.getLocalPort();
    }
    try (Neo4jClient client = client(port)) {
      assertThatThrownBy(() -> client.run("RETURN 1", Map.of()))
          .isInstanceOfAny(ServiceUnavailableException.class, TimeoutException.class);
    }
  }
}
