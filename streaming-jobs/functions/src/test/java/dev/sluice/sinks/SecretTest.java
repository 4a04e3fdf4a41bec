package dev.sluice.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.ValidationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretTest {
  private static final Secret.Options OPTIONS = Secret.Options.of("password");

  @TempDir Path folder;

  private static Secret secret(Map<String, String> options) {
    return OPTIONS.from(Configuration.fromMap(options));
  }

  @Test
  void isReadWhereItIsUsed() throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "of the file\n");
    assertEquals("", secret(Map.of()).read());
    assertEquals("itself", secret(Map.of("password", "itself")).read());
    assertEquals("of the file", secret(Map.of("password.file", file.toString())).read());
    assertEquals("of it", secret(Map.of("password.variable", "IT")).read(Map.of("IT", "of it")));
    Files.writeString(file, "a new one");
    assertEquals("a new one", secret(Map.of("password.file", file.toString())).read());
  }

  @Test
  void saysWhatIsNotThere() {
    Secret gone = secret(Map.of("password.file", folder.resolve("gone").toString()));
    assertThrows(IllegalStateException.class, gone::read);
    Secret unset = secret(Map.of("password.variable", "UNSET"));
    assertThrows(IllegalStateException.class, () -> unset.read(Map.of()));
  }

  @Test
  void isSaidOnceAndShownNever() {
    assertThrows(
        ValidationException.class, () -> secret(Map.of("password", "a", "password.file", "b")));
    assertFalse(secret(Map.of("password", "itself")).toString().contains("itself"));
  }
}
