package dev.sluice.sinks.neo4j;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.sinks.Secret;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.neo4j.driver.exceptions.ServiceUnavailableException;

@Timeout(60)
class Neo4jClientTest {
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
