package dev.sluice.clock;

import static org.assertj.core.api.Assertions.assertThatNoException;

import java.util.Map;
import org.junit.jupiter.api.Test;

class KafkaTopicTest {
  @Test
  void itsSettingsAreTakenByTheProducer() {
    // Nobody listens on port 1; it connects when it writes.
    assertThatNoException()
        .isThrownBy(
            () -> new KafkaTopic("spans", Map.of("bootstrap.servers", "127.0.0.1:1")).close());
  }
}
