package dev.sluice.restore;

import java.io.IOException;
import java.io.PrintStream;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.plugin.PluginUtils;

/**
 * Prints the snapshot that a JobManager in application mode starts from; nothing where there is
 * none.
 *
 * <p>The arguments are those of the role standalone-job; -DKEY=VALUE overrides a key of
 * FLINK_CONF_DIR. Exit status 1: the storage cannot be read, and a job that starts now would start
 * without its state.
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    PrintStream answer = System.out;
    System.setOut(System.err); // the log's appender
    Configuration configuration = GlobalConfiguration.loadConfiguration(overrides(arguments));
    try {
      FileSystem.initialize(
          configuration, PluginUtils.createPluginManagerFromRootFolder(configuration));
      HighAvailabilityFiles.remove(configuration);
      Optional<Path> snapshot = newest(configuration, arguments);
      System.err.println("newest snapshot: " + snapshot.map(Path::toString).orElse("none"));
      removeSuperseded(configuration);
      snapshot.ifPresent(answer::println);
    } catch (IOException | RuntimeException e) {
      System.err.printf(
          "%s and %s: cannot look for the newest snapshot, so the job does not start: %s%n",
          CheckpointingOptions.CHECKPOINTS_DIRECTORY.key(),
          CheckpointingOptions.SAVEPOINT_DIRECTORY.key(),
          e);
      System.exit(1);
    }
  }

  /** Removes folders of jobs whose checkpoints no start needs. */
  static void removeSuperseded(Configuration configuration) throws IOException {
    Path checkpoints = folder(configuration, CheckpointingOptions.CHECKPOINTS_DIRECTORY);
    if (checkpoints == null) {
      return;
    }
    for (Path folder : Snapshots.superseded(checkpoints)) {
      System.err.println("removes checkpoints of an older job: " + folder);
      folder.getFileSystem().delete(folder, true);
    }
  }

  /** Empty where the arguments name the snapshot to start from. */
  static Optional<Path> newest(Configuration configuration, String... arguments)
      throws IOException {
    for (String argument : arguments) {
      if (argument.equals("--fromSavepoint") || argument.equals("-s")) {
        return Optional.empty();
      }
    }
    return Snapshots.newest(
        folder(configuration, CheckpointingOptions.CHECKPOINTS_DIRECTORY),
        folder(configuration, CheckpointingOptions.SAVEPOINT_DIRECTORY));
  }

  static Configuration overrides(String... arguments) {
    Configuration overrides = new Configuration();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (argument.startsWith("-D") && equals > 0) {
        overrides.setString(
            argument.substring("-D".length(), equals), argument.substring(equals + 1));
      }
    }
    return overrides;
  }

  private static Path folder(Configuration configuration, ConfigOption<String> option) {
    return configuration.getOptional(option).map(Path::new).orElse(null);
  }
}
