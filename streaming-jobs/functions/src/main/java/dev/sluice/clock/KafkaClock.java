package dev.sluice.clock;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.admin.Admin;
import org.apache.flink.metrics.MetricGroup;

/**
 * Writes clock records to a topic of Kafka.
 *
 * @param client properties of Kafka's clients
 * @param everyMs pause between two rounds
 */
public record KafkaClock(String topic, Map<String, String> client, long everyMs) implements Clock {
  private static final long serialVersionUID = 1L;
  private static final long ANSWER_WITHIN_S = 30;

  @Override
  public int partitions() {
    Properties properties = new Properties();
    properties.putAll(client);
    try (Admin admin = Admin.create(properties)) {
      return admin
          .describeTopics(List.of(topic))
          .allTopicNames()
          .get(ANSWER_WITHIN_S, TimeUnit.SECONDS)
          .get(topic)
          .partitions()
          .size();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("look up the partitions of " + topic + ": interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      String why = e.getCause() == null ? "no answer within 30 s" : e.getCause().getMessage();
      throw new IllegalStateException(
          "look up the partitions of "
              + topic
              + ": "
              + why
              + ". With a parallelism above 1 the process that submits the job must reach Kafka, unless"
              + " --clock-records-ms is 0",
          e);
    }
  }

  @Override
  public AutoCloseable start(MetricGroup metrics) {
    ClockStatus status = new ClockStatus(metrics, topic, System::currentTimeMillis);
    return ClockRecords.start(() -> new KafkaTopic(topic, client), status, everyMs);
  }
}
