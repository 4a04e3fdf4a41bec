package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.SinkStatus;
import dev.sluice.sinks.StoreThreads;
import dev.sluice.sinks.TooLargeException;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old elements from the graph at intervals, on a thread and a connection of its own: in
 * transactions of at most {@link #LIMIT} elements, or fewer where the server has no room for that.
 *
 * <p>Metrics, under {@code ageing}:
 *
 * <ul>
 *   <li>{@code removed}: how many elements were removed
 *   <li>{@code trouble}: why the last round failed, or ""
 * </ul>
 */
final class Ageing implements AutoCloseable {
  static final int LIMIT = 1_000;
  private static final Logger LOG = LoggerFactory.getLogger(Ageing.class);
  private static final String THREAD = "age the graph";

  /** Runs a statement that returns one number or null. */
  interface Graph extends AutoCloseable {
    OptionalLong number(String cypher, Map<String, Object> parameters) throws Exception;

    @Override
    void close();
  }

  private final AgeingOptions options;
  private final Graph graph;
  private final Counter removedElements;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(StoreThreads.named(THREAD));
  private volatile String trouble = "";

  Ageing(AgeingOptions options, Graph graph, MetricGroup metrics) {
    this.options = options;
    this.graph = graph;
    MetricGroup own = metrics.addGroup("ageing");
    removedElements = own.counter("removed");
    own.gauge("trouble", (Gauge<String>) () -> trouble);
    long intervalMs = options.interval().toMillis();
    thread.scheduleWithFixedDelay(this::tryRound, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
  }

  private void tryRound() {
    try {
      round();
      trouble = "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    } catch (Exception e) {
      trouble = "cannot remove old elements from the graph: " + SinkStatus.oneLine(e);
      LOG.warn("{}; again in {}", trouble, options.interval());
    }
  }

  private void round() throws Exception {
    OptionalLong newest = graph.number(options.newest(), Map.of());
    if (newest.isEmpty()) {
      return;
    }
    for (String removal : options.removals()) {
      removeAll(removal, newest.getAsLong() - options.maxAgeS());
    }
  }

  private void removeAll(String removal, long oldest) throws Exception {
    int limit = LIMIT;
    long removed;
    do {
      try {
        removed = graph.number(removal, Map.of("oldest", oldest, "limit", limit)).orElse(0);
        removedElements.inc(removed);
      } catch (TooLargeException e) {
        if (limit == 1) {
          throw e;
        }
        limit /= 2;
        removed = limit; // there are more
      }
    } while (removed > 0);
  }

  @Override
  public void close() {
    StoreThreads.end(thread, THREAD);
    graph.close();
  }
}
