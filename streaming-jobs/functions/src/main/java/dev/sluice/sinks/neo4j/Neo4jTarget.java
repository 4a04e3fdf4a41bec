package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.BatchTarget;
import dev.sluice.sinks.RowsRejectedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.neo4j.driver.AuthTokens;
import org.neo4j.driver.Config;
import org.neo4j.driver.Driver;
import org.neo4j.driver.GraphDatabase;
import org.neo4j.driver.Logging;
import org.neo4j.driver.Session;
import org.neo4j.driver.SessionConfig;
import org.neo4j.driver.exceptions.ClientException;

/** Runs one Cypher statement for each batch, in one transaction, and perhaps another after it. */
final class Neo4jTarget implements BatchTarget {
  // Statement errors blame what was sent: a value of no property type, a key that is too long, null
  // in MERGE. Security and database errors are the operator's, and may pass.
  private static final String DATA_FAULT = "Neo.ClientError.Statement.";
  // But this one tells that another transaction removed what this one had found: it finds or makes
  // it when it is tried again.
  private static final String REMOVED_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound";

  private final Driver driver;
  private final Neo4jOptions options;
  private final List<String> columns;

  Neo4jTarget(Neo4jOptions options, List<String> columns) {
    this.options = options;
    this.columns = columns;
    this.driver =
        GraphDatabase.driver(
            options.uri(),
            AuthTokens.basic(options.username(), options.password()),
            Config.builder()
                .withLogging(Logging.slf4j())
                .withConnectionTimeout(5, java.util.concurrent.TimeUnit.SECONDS)
                .withMaxConnectionPoolSize(2)
                .build());
  }

  @Override
  public void write(List<Object[]> rows) throws RowsRejectedException {
    List<Map<String, Object>> parameter = new ArrayList<>(rows.size());
    for (Object[] row : rows) {
      Map<String, Object> map = new HashMap<>();
      for (int i = 0; i < row.length; i++) {
        map.put(columns.get(i), row[i]);
      }
      parameter.add(map);
    }
    SessionConfig database = SessionConfig.forDatabase(options.database());
    try (Session session = driver.session(database)) {
      upsert(session, parameter);
      if (!options.afterwards().isEmpty()) {
        session.executeWriteWithoutResult(
            transaction -> transaction.run(options.afterwards()).consume());
      }
    }
  }

  private void upsert(Session session, List<Map<String, Object>> rows)
      throws RowsRejectedException {
    try {
      session.executeWriteWithoutResult(
          transaction -> transaction.run(options.cypher(), Map.of("rows", rows)).consume());
    } catch (ClientException e) {
      String code = e.code();
      if (code != null && code.startsWith(DATA_FAULT) && !code.equals(REMOVED_MEANWHILE)) {
        throw new RowsRejectedException("run Cypher: " + e.getMessage(), e);
      }
      throw e;
    }
  }

  @Override
  public void close() {
    driver.close();
  }
}
