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
 * A password by reference: what Flink plans, ships and keeps of a job says where the password is,
 * and the process that uses it reads it there.
 *
 * @param plain itself; "" where it is elsewhere, or there is none
 * @param file that holds nothing else but a line's end; "" for none
 * @param variable of the environment of the process that uses it; "" for none
 */
public record Secret(String plain, String file, String variable) implements Serializable {

  /**
   * The three options of a table that say so: {@code KEY}, {@code KEY.file}, {@code KEY.variable}.
   */
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
      Secret found = new Secret(options.get(plain), options.get(file), options.get(variable));
      if (List.of(found.plain, found.file, found.variable).stream()
              .filter(t -> !t.isEmpty())
              .count()
          > 1) {
        throw new ValidationException("'" + plain.key() + "': say it in one way, not in several");
      }
      return found;
    }
  }

  /**
   * The secret as it is now.
   *
   * @throws IllegalStateException naming the file or the variable that is not there
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
