package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.BatchTarget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.neo4j.driver.exceptions.Neo4jException;

/** Runs one Cypher statement for each batch, in one transaction. */
final class Neo4jTarget implements BatchTarget<Object[]> {
  private final Neo4jClient client;
  private final String cypher;
  private final List<String> columns;

  Neo4jTarget(Neo4jOptions options, List<String> columns) {
    this.client = new Neo4jClient(options);
    this.cypher = options.cypher();
    this.columns = columns;
  }

  @Override
  public void write(List<Object[]> rows) throws Exception {
    List<Map<String, Object>> parameter = new ArrayList<>(rows.size());
    for (Object[] row : rows) {
      Map<String, Object> map = new HashMap<>();
      for (int i = 0; i < row.length; i++) {
        map.put(columns.get(i), row[i]);
      }
      parameter.add(map);
    }
    try {
      client.run(cypher, Map.of("rows", parameter));
    } catch (Neo4jException e) {
      throw Neo4jFault.classified(e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
