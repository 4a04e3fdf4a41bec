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

  private static Secret given(Map<String, String> options) {
    return OPTIONS.from(Configuration.fromMap(options));
  }

  @Test
  void isReadWhereItIsUsed() throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "of the file\n");
    assertEquals("", given(Map.of()).read());
    assertEquals("itself", given(Map.of("password", "itself")).read());
    assertEquals("of the file", given(Map.of("password.file", file.toString())).read());
    assertEquals("of it", given(Map.of("password.variable", "IT")).read(Map.of("IT", "of it")));
    Files.writeString(file, "a new one");
    assertEquals("a new one", given(Map.of("password.file", file.toString())).read());
  }

  @Test
  void saysWhatIsNotThere() {
    Secret gone = given(Map.of("password.file", folder.resolve("gone").toString()));
    assertThrows(IllegalStateException.class, gone::read);
    Secret unset = given(Map.of("password.variable", "UNSET"));
    assertThrows(IllegalStateException.class, () -> unset.read(Map.of()));
  }

  @Test
  void isSaidOnceAndShownNever() {
    assertThrows(
        ValidationException.class, () -> given(Map.of("password", "a", "password.file", "b")));
    assertFalse(given(Map.of("password", "itself")).toString().contains("itself"));
  }
}
