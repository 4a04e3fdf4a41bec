package dev.sluice.restore;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** Retained checkpoints and savepoints, in any of Flink's file systems. */
final class Snapshots {
  /** Flink writes this file of a snapshot last. */
  private static final String LAST_FILE = "_metadata";

  /**
   * @param at time of the last write, in ms since the epoch
   * @param number the checkpoint's, 0 for a savepoint; it decides where times are equal
   */
  private record Snapshot(Path path, long at, long number) {}

  private static final Comparator<Snapshot> NEWER =
      Comparator.comparingLong(Snapshot::at).thenComparingLong(Snapshot::number);

  private Snapshots() {}

  /**
   * The folder of the newest complete snapshot, whichever job wrote it.
   *
   * @param checkpoints folder of JOB/chk-NUMBER, or null
   * @param savepoints folder of savepoint-NAME, or null
   * @throws IOException if a folder that exists cannot be read
   */
  static Optional<Path> newest(Path checkpoints, Path savepoints) throws IOException {
    List<Snapshot> complete = new ArrayList<>();
    if (checkpoints != null) {
      for (Path job : folders(checkpoints, "")) {
        newestOf(job).ifPresent(complete::add);
      }
    }
    if (savepoints != null) {
      for (Path folder : folders(savepoints, "savepoint-")) {
        add(complete, folder, 0);
      }
    }
    return complete.stream().max(NEWER).map(Snapshot::path);
  }

  /**
   * Folders of jobs that no start needs: all but those with the newest two checkpoints. A job that
   * started from another one's checkpoint refers to none of its files once it has a checkpoint of
   * its own (Flink's claim mode NO_CLAIM).
   *
   * @param checkpoints folder of JOB/chk-NUMBER
   */
  static List<Path> superseded(Path checkpoints) throws IOException {
    record Age(Path folder, Snapshot newest) {}
    List<Age> jobs = new ArrayList<>();
    for (Path folder : folders(checkpoints, "")) {
      if (folder.getName().matches("[0-9a-f]{32}")) {
        jobs.add(new Age(folder, newestOf(folder).orElse(new Snapshot(folder, 0, 0))));
      }
    }
    return jobs.stream()
        .sorted(Comparator.comparing(Age::newest, NEWER).reversed())
        .skip(2)
        .map(Age::folder)
        .toList();
  }

  private static Optional<Snapshot> newestOf(Path job) throws IOException {
    List<Snapshot> complete = new ArrayList<>();
    for (Path folder : folders(job, "chk-")) {
      add(complete, folder, Long.parseLong(folder.getName().substring("chk-".length())));
    }
    return complete.stream().max(NEWER);
  }

  private static void add(List<Snapshot> complete, Path folder, long number) throws IOException {
    for (FileStatus file : entries(folder)) {
      if (file.getPath().getName().equals(LAST_FILE)) {
        complete.add(new Snapshot(folder, file.getModificationTime(), number));
      }
    }
  }

  private static List<Path> folders(Path parent, String prefix) throws IOException {
    List<Path> folders = new ArrayList<>();
    for (FileStatus entry : entries(parent)) {
      if (entry.isDir() && entry.getPath().getName().startsWith(prefix)) {
        folders.add(entry.getPath());
      }
    }
    return folders;
  }

  /** What is in a folder; nothing where the folder does not exist. */
  private static FileStatus[] entries(Path folder) throws IOException {
    FileSystem files = folder.getFileSystem();
    try {
      if (!files.getFileStatus(folder).isDir()) {
        throw new IOException(folder + " is not a folder");
      }
      FileStatus[] entries = files.listStatus(folder);
      if (entries == null) { // Flink's local file system
        throw new IOException(folder + " cannot be read");
      }
      return entries;
    } catch (FileNotFoundException absent) {
      return new FileStatus[0];
    }
  }
}
