package dev.sluice.testbed.spring;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A request has a thread, and of its time a connection for some 20 ms. */
@RestController
final class WorkController {
  private final DataSource connections;
  private final Most requests = new Most();
  private final Most connected = new Most();

  WorkController(DataSource connections) {
    this.connections = connections;
  }

  @GetMapping("/work")
  String work() throws SQLException {
    requests.enter();
    try (Connection connection = connections.getConnection();
        Statement statement = connection.createStatement()) {
      connected.enter();
      try {
        statement.execute("SELECT pg_sleep(0.02)");
      } finally {
        connected.leave();
      }
      return "done";
    } finally {
      requests.leave();
    }
  }

  /** The most requests and connections that worked at once since this was asked for. */
  @GetMapping("/most")
  Map<String, Integer> most() {
    return Map.of("requests", requests.take(), "connections", connected.take());
  }
}
