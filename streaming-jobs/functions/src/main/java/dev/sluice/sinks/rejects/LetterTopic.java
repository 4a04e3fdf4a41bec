package dev.sluice.sinks.rejects;

import dev.sluice.sinks.KafkaAcknowledgements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.flink.kafka.shaded.org.apache.kafka.common.serialization.ByteArraySerializer;

/** The topic of dead letters, by the producer of Flink's own connector. */
final class LetterTopic implements RejectedRows.Lines {
  private final KafkaProducer<byte[], byte[]> producer;
  private final String topic;

  LetterTopic(RejectsOptions options) {
    topic = options.topic();
    producer =
        new KafkaProducer<>(
            properties(options), new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Given properties override the defaults. */
  static Map<String, Object> properties(RejectsOptions options) {
    Map<String, Object> all = new HashMap<>();
    all.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 8 << 20);
    all.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 16L << 20);
    all.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000L);
    all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 30_000);
    all.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000);
    all.putAll(options.kafka());
    return all;
  }

  @Override
  public void write(List<byte[]> letters) throws Exception {
    List<Future<?>> sent = new ArrayList<>();
    for (byte[] letter : letters) {
      sent.add(producer.send(new ProducerRecord<>(topic, letter)));
    }
    producer.flush();
    KafkaAcknowledgements.await(sent);
  }

  @Override
  public void close() {
    producer.close(Duration.ZERO);
  }
}
