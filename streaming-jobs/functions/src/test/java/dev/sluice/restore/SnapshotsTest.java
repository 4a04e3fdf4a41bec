package dev.sluice.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotsTest {
  private static final String JOB = "0".repeat(31) + "1";
  private static final String OTHER = "0".repeat(31) + "2";

  @TempDir Path folder;

  private void snapshot(String place, long second) throws IOException {
    Path metadata = Files.createDirectories(folder.resolve(place)).resolve("_metadata");
    Files.setLastModifiedTime(Files.writeString(metadata, "x"), FileTime.fromMillis(second * 1000));
  }

  private Configuration configuration() {
    Configuration configuration = new Configuration();
    configuration.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY, "file://" + folder.resolve("checkpoints"));
    configuration.set(
        CheckpointingOptions.SAVEPOINT_DIRECTORY, "file://" + folder.resolve("savepoints"));
    return configuration;
  }

  private Optional<String> newest(String... arguments) throws IOException {
    return Main.newest(configuration(), arguments)
        .map(path -> folder.toUri().relativize(path.toUri()).getPath());
  }

  @Test
  void theNewestIsTheOneThatWasWrittenLastWhateverItsJobAndNumber() throws IOException {
    snapshot("checkpoints/" + JOB + "/chk-9", 100);
    snapshot("checkpoints/" + OTHER + "/chk-4", 200);
    snapshot("savepoints/savepoint-000000-1", 150);
    assertThat(newest()).hasValueSatisfying(path -> assertThat(path).endsWith(OTHER + "/chk-4"));
    snapshot("savepoints/savepoint-000000-2", 250);
    assertThat(newest())
        .hasValueSatisfying(path -> assertThat(path).endsWith("savepoint-000000-2"));
  }

  @Test
  void theNumberDecidesWithinOneTimeOfTheStorage() throws IOException {
    snapshot("checkpoints/" + JOB + "/chk-9", 100);
    snapshot("checkpoints/" + JOB + "/chk-10", 100);
    assertThat(newest()).hasValueSatisfying(path -> assertThat(path).endsWith("chk-10"));
  }

  @Test
  void aCheckpointThatFlinkDidNotFinishDoesNotCount() throws IOException {
    snapshot("checkpoints/" + JOB + "/chk-3", 100);
    Files.createDirectories(folder.resolve("checkpoints/" + JOB + "/chk-4"));
    Files.createDirectories(folder.resolve("checkpoints/" + JOB + "/shared"));
    Files.createDirectories(folder.resolve("checkpoints/" + JOB + "/taskowned"));
    assertThat(newest()).hasValueSatisfying(path -> assertThat(path).endsWith("chk-3"));
  }

  @Test
  void aJobWithoutSnapshotsStartsWithoutState() throws IOException {
    assertThat(newest()).isEmpty();
    Files.createDirectories(folder.resolve("checkpoints/" + JOB + "/chk-1"));
    assertThat(newest()).isEmpty();
    assertThat(Main.newest(new Configuration())).isEmpty();
  }

  @Test
  void aSnapshotThatTheArgumentsNameWins() throws IOException {
    snapshot("checkpoints/" + JOB + "/chk-3", 100);
    assertThat(newest("--job-id", JOB, "--fromSavepoint", "s3://bucket/savepoint-1")).isEmpty();
  }

  @Test
  void aStorageThatCannotBeReadIsAnError() throws IOException {
    Files.writeString(folder.resolve("checkpoints"), "a file");
    assertThatThrownBy(this::newest)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("checkpoints is not a folder");
    Configuration unknown = Main.overrides("-Dexecution.checkpointing.dir=nowhere://bucket/a");
    assertThatThrownBy(() -> Main.newest(unknown)).isInstanceOf(IOException.class);
  }

  @Test
  void theNewestTwoJobsKeepTheirCheckpoints() throws IOException {
    String[] jobs = {"a".repeat(32), "b".repeat(32), "c".repeat(32), "d".repeat(32)};
    for (int i = 0; i < jobs.length; i++) {
      snapshot("checkpoints/" + jobs[i] + "/chk-1", 100 + i);
    }
    Files.createDirectories(folder.resolve("checkpoints/" + "e".repeat(32) + "/shared"));
    Files.createDirectories(folder.resolve("checkpoints/notes"));
    Main.removeSuperseded(configuration());
    try (var left = Files.list(folder.resolve("checkpoints"))) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder(jobs[2], jobs[3], "notes");
    }
  }

  @Test
  void filesOfHighAvailabilityGoWhereTheFolderIsThisJobsAlone() throws IOException {
    Path own = folder.resolve("leader/sluice-jobs-1");
    Files.createDirectories(own.resolve("blob/job_" + JOB));
    Files.writeString(own.resolve("blob/job_" + JOB + "/blob_p-1"), "jar");
    Files.writeString(own.resolve("submittedExecutionPlan1a2b"), "plan");
    Files.createDirectories(folder.resolve("leader/default/blob"));
    Configuration configuration = configuration();
    configuration.set(HighAvailabilityOptions.HA_STORAGE_PATH, "file://" + folder + "/leader");
    HighAvailabilityFiles.remove(configuration);
    assertThat(own.resolve("submittedExecutionPlan1a2b")).exists();
    configuration.set(HighAvailabilityOptions.HA_CLUSTER_ID, "sluice-jobs-1");
    HighAvailabilityFiles.remove(configuration);
    HighAvailabilityFiles.remove(configuration);
    assertThat(own).doesNotExist();
    assertThat(folder.resolve("leader/default/blob")).exists();
  }
}
