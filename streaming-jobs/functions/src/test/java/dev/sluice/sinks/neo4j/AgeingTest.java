package dev.sluice.sinks.neo4j;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.sinks.TooLargeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AgeingTest {
  private static final String CYPHER = "// The newest; of all\nNEWEST;\nEDGES;\n\nNODES; \n";

  /** Has some of each to remove, and takes a transaction of up to {@code room} elements. */
  private static final class Graph implements Ageing.Graph {
    final List<String> removals = Collections.synchronizedList(new ArrayList<>());
    final Map<String, Integer> left = new java.util.HashMap<>(Map.of("EDGES", 2_500, "NODES", 3));
    final CountDownLatch rounds = new CountDownLatch(2);
    int room = Integer.MAX_VALUE;
    boolean away;
    boolean closed;

    @Override
    public OptionalLong number(String cypher, Map<String, Object> parameters) throws Exception {
      if (cypher.contains("NEWEST")) {
        rounds.countDown();
        if (away) {
          away = false;
          throw new IllegalStateException("away");
        }
        return OptionalLong.of(10_000);
      }
      int limit = (int) parameters.get("limit");
      removals.add(cypher + " " + limit + " older than " + parameters.get("oldest"));
      if (limit > room && left.get(cypher) > room) {
        throw new TooLargeException("no room", null);
      }
      int removed = Math.min(limit, left.get(cypher));
      left.merge(cypher, -removed, Integer::sum);
      return OptionalLong.of(removed);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private static List<String> rounds(Graph graph) throws Exception {
    Configuration settings =
        new Configuration()
            .set(AgeingOptions.CYPHER, CYPHER)
            .set(AgeingOptions.MAX_AGE, Duration.ofMinutes(1))
            .set(AgeingOptions.INTERVAL, Duration.ofMillis(100));
    try (Ageing ageing =
        new Ageing(
            AgeingOptions.of(settings),
            graph,
            UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup())) {
      assertThat(graph.rounds.await(50, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(graph.closed).isTrue();
    return graph.removals;
  }

  @Test
  void statementsAreReadFromOneText() {
    AgeingOptions options = AgeingOptions.of(new Configuration().set(AgeingOptions.CYPHER, CYPHER));
    assertThat(options.newest()).isEqualTo("// The newest; of all\nNEWEST");
    assertThat(options.removals()).containsExactly("EDGES", "NODES");
    assertThat(AgeingOptions.of(new Configuration())).isNull();
  }

  @Test
  void eachStatementIsRunUntilNothingIsLeft() throws Exception {
    assertThat(rounds(new Graph()))
        .startsWith(
            "EDGES 1000 older than 9940",
            "EDGES 1000 older than 9940",
            "EDGES 1000 older than 9940",
            "EDGES 1000 older than 9940",
            "NODES 1000 older than 9940",
            "NODES 1000 older than 9940");
  }

  @Test
  void aRemovalThatIsTooMuchForTheServerIsHalved() throws Exception {
    Graph graph = new Graph();
    graph.room = 300;
    assertThat(rounds(graph))
        .startsWith(
            "EDGES 1000 older than 9940", "EDGES 500 older than 9940", "EDGES 250 older than 9940");
    assertThat(graph.left).containsEntry("EDGES", 0).containsEntry("NODES", 0);
  }

  @Test
  void aRoundThatFailsIsFollowedByAnother() throws Exception {
    Graph graph = new Graph();
    graph.away = true;
    graph.left.put("EDGES", 1);
    rounds(graph);
    assertThat(graph.rounds.getCount()).isZero();
  }
}
