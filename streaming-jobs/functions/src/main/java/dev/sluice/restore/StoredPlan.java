package dev.sluice.restore;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.highavailability.HighAvailabilityServicesUtils;

/** Files of a plan that high availability keeps no reference to any more. */
final class StoredPlan {
  private static final String PLANS = "submittedExecutionPlan";
  private static final String JARS = "blob";

  private StoredPlan() {}

  /**
   * Removes the plan and its jars, of which each start writes new ones. References to checkpoints
   * are in the same folder and stay. The folder of the default high-availability.cluster-id may be
   * another cluster's too: nothing of it goes.
   */
  static void remove(Configuration configuration) throws IOException {
    boolean own = configuration.contains(HighAvailabilityOptions.HA_CLUSTER_ID);
    if (!own || !configuration.contains(HighAvailabilityOptions.HA_STORAGE_PATH)) {
      return;
    }
    Path folder = HighAvailabilityServicesUtils.getClusterHighAvailableStoragePath(configuration);
    FileSystem files = folder.getFileSystem();
    FileStatus[] entries;
    try {
      entries = files.listStatus(folder);
    } catch (FileNotFoundException absent) {
      return;
    }
    for (FileStatus entry : entries == null ? new FileStatus[0] : entries) {
      String name = entry.getPath().getName();
      if (name.startsWith(PLANS) || name.equals(JARS)) {
        files.delete(entry.getPath(), true);
      }
    }
  }
}
