package dev.sluice.clock;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KafkaTopicTest {
  @Test
  void itsSettingsAreTakenByTheProducer() {
    // Nobody listens on port 1; it connects when it writes.
    assertThatNoException()
        .isThrownBy(
            () -> new KafkaTopic("spans", Map.of("bootstrap.servers", "127.0.0.1:1")).close());
  }

  /** As jobs/kafka.py refers to it. */
  @Test
  void aPropertyIsReadFromItsFileAtTheStart(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("kafka.properties");
    Map<String, String> client =
        Map.of(
            "bootstrap.servers",
            "127.0.0.1:1",
            "config.providers",
            "file",
            "config.providers.file.class",
            "org.apache.flink.kafka.shaded.org.apache.kafka.common.config.provider.FileConfigProvider",
            "security.protocol",
            "${file:" + file + ":security.protocol}");
    Files.writeString(file, "security.protocol=\\\n  NONE\n");
    assertThatThrownBy(() -> new KafkaTopic("spans", client)).hasMessageContaining("value NONE");
    Files.writeString(file, "security.protocol=PLAINTEXT\n");
    assertThatNoException().isThrownBy(() -> new KafkaTopic("spans", client).close());
  }
}
