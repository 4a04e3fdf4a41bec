package dev.sluice.clock;

import dev.sluice.sinks.KafkaAcknowledgements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.flink.kafka.shaded.org.apache.kafka.common.PartitionInfo;
import org.apache.flink.kafka.shaded.org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A topic of Kafka, written by the producer of Flink's own connector. A record has no bytes, which
 * is a request without spans; the broker sets its time. A lost record does not matter, since the
 * next comes soon: so the producer does not retry, and needs little memory. It finds new partitions
 * within a minute.
 */
final class KafkaTopic implements ClockRecords.Topic {
  private static final byte[] NOTHING = {};
  private final String name;
  private final KafkaProducer<byte[], byte[]> producer;

  KafkaTopic(String name, Map<String, String> client) {
    this.name = name;
    Properties properties = new Properties();
    properties.putAll(client);
    properties.put(ProducerConfig.CLIENT_ID_CONFIG, "sluice-clock-records");
    properties.put(ProducerConfig.ACKS_CONFIG, "1");
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, false);
    properties.put(ProducerConfig.RETRIES_CONFIG, 0);
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, 0);
    properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 1L << 20);
    properties.put(ProducerConfig.METADATA_MAX_AGE_CONFIG, 60_000);
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 5_000L);
    properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 4_000);
    properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 5_000);
    producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public void write() throws Exception {
    List<Future<?>> sent = new ArrayList<>();
    for (PartitionInfo partition : producer.partitionsFor(name)) {
      sent.add(producer.send(new ProducerRecord<>(name, partition.partition(), null, NOTHING)));
    }
    // The records of other partitions are under way, whatever happens to the first.
    KafkaAcknowledgements.await(sent);
  }

  @Override
  public void close() {
    producer.close(Duration.ZERO);
  }
}
