package dev.sluice.testbed;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A few rows that everybody updates, each guarded by a version (an optimistic lock). */
final class Rows {
  /** Few, so that requests in flight together meet: with 12 of them a row has 1.5 on average. */
  static final int COUNT = 8;

  private final HikariDataSource connections;

  Rows(String url, int size) throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    config.setPoolName("rows");
    config.setRegisterMbeans(true);
    connections = new HikariDataSource(config);
    try (Connection connection = connections.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS hot");
      statement.execute("CREATE TABLE hot (id int PRIMARY KEY, version bigint, amount bigint)");
      statement.execute(
          "INSERT INTO hot SELECT id, 0, 0 FROM generate_series(1, " + COUNT + ") AS id");
    }
  }

  /** The version of a row now. */
  long version(int id) throws SQLException {
    try (Connection connection = connections.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("SELECT version FROM hot WHERE id = ?")) {
      statement.setInt(1, id);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }

  /** Changes a row that still has {@code version}; false when somebody else was faster. */
  boolean update(int id, long version) throws SQLException {
    try (Connection connection = connections.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "UPDATE hot SET amount = amount + 1, version = version + 1"
                    + " WHERE id = ? AND version = ?")) {
      statement.setInt(1, id);
      statement.setLong(2, version);
      return statement.executeUpdate() == 1;
    }
  }
}
