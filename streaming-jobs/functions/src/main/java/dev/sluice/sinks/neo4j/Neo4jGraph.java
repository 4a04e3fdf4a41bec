package dev.sluice.sinks.neo4j;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.neo4j.driver.Record;
import org.neo4j.driver.Value;
import org.neo4j.driver.exceptions.Neo4jException;

/** Statements that return one number, on a connection of their own. */
final class Neo4jGraph implements Ageing.Graph {
  private final Neo4jClient client;

  Neo4jGraph(Neo4jOptions options) {
    this.client = new Neo4jClient(options);
  }

  @Override
  public OptionalLong number(String cypher, Map<String, Object> parameters) throws Exception {
    try {
      List<Record> records = client.run(cypher, parameters);
      Value value = records.get(0).get(0);
      return value.isNull() ? OptionalLong.empty() : OptionalLong.of(value.asLong());
    } catch (Neo4jException e) {
      throw Neo4jFault.classified(e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
