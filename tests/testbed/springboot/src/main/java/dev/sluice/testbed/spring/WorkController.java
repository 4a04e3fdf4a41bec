package dev.sluice.testbed.spring;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A request has a thread, and of its time a connection for some 20 ms. */
@RestController
final class WorkController {
  /** As hot.sql makes. */
  private static final int ROWS = 8;

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

  /** Changes a row of instrumented/hot.sql. */
  @GetMapping("/update")
  int update() throws SQLException {
    try (Connection connection = connections.getConnection();
        PreparedStatement statement = connection.prepareStatement("SELECT change(?)")) {
      statement.setInt(1, ThreadLocalRandom.current().nextInt(1, ROWS + 1));
      try (ResultSet attempts = statement.executeQuery()) {
        attempts.next();
        return attempts.getInt(1);
      }
    }
  }

  /** The most requests and connections that worked at once since this was asked for. */
  @GetMapping("/most")
  Map<String, Integer> most() {
    return Map.of("requests", requests.take(), "connections", connected.take());
  }
}
