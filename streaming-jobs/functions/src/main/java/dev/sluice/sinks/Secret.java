package dev.sluice.sinks;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;

/**
 * A password by reference: Flink plans, ships and keeps only its place, and the process that uses
 * it reads it there.
 *
 * @param plain the password itself; "" for one that is elsewhere, or for none
 * @param file a file with nothing but the password and a line's end; "" for none
 * @param variable of the environment of the process that uses it; "" for none
 */
public record Secret(String plain, String file, String variable) implements Serializable {

  /** The three options of a table for it: {@code KEY}, {@code KEY.file}, {@code KEY.variable}. */
  public record Options(
      ConfigOption<String> plain, ConfigOption<String> file, ConfigOption<String> variable) {
    public static Options of(String key) {
      return new Options(text(key), text(key + ".file"), text(key + ".variable"));
    }

    private static ConfigOption<String> text(String key) {
      return ConfigOptions.key(key).stringType().defaultValue("");
    }

    public List<ConfigOption<?>> all() {
      return List.of(plain, file, variable);
    }

    public Secret from(ReadableConfig options) {
      Secret secret = new Secret(options.get(plain), options.get(file), options.get(variable));
      List<String> values = List.of(secret.plain, secret.file, secret.variable);
      if (values.stream().filter(value -> !value.isEmpty()).count() > 1) {
        throw new ValidationException("'" + plain.key() + "': set only one of the three options");
      }
      return secret;
    }
  }

  /**
   * The present secret.
   *
   * @throws IllegalStateException with the file or the variable that does not exist
   */
  public String read() {
    return read(System.getenv());
  }

  String read(Map<String, String> environment) {
    if (!file.isEmpty()) {
      try {
        return Files.readString(Path.of(file)).replaceFirst("\\R$", "");
      } catch (IOException e) {
        throw new IllegalStateException("read the password in " + file + ": " + e, e);
      }
    }
    if (!variable.isEmpty()) {
      String value = environment.get(variable);
      if (value == null) {
        throw new IllegalStateException(
            "read the password: this process's environment has no " + variable);
      }
      return value;
    }
    return plain;
  }

  @Override
  public String toString() {
    return file.isEmpty() && variable.isEmpty()
        ? "a password"
        : "the password of " + file + variable;
  }
}
