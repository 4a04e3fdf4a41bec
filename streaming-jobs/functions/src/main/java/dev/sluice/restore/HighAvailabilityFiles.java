package dev.sluice.restore;

import java.io.IOException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.highavailability.HighAvailabilityServicesUtils;

/**
 * Plans, jars and references to checkpoints of earlier starts: nothing refers to them once
 * forget-plan ran.
 */
final class HighAvailabilityFiles {
  private HighAvailabilityFiles() {}

  /**
   * Removes them. The folder of the default high-availability.cluster-id may be another cluster's
   * too: nothing of it goes.
   */
  static void remove(Configuration configuration) throws IOException {
    boolean own = configuration.contains(HighAvailabilityOptions.HA_CLUSTER_ID);
    if (own && configuration.contains(HighAvailabilityOptions.HA_STORAGE_PATH)) {
      Path folder = HighAvailabilityServicesUtils.getClusterHighAvailableStoragePath(configuration);
      FileSystem files = folder.getFileSystem();
      if (files.exists(folder)) {
        files.delete(folder, true);
      }
    }
  }
}
