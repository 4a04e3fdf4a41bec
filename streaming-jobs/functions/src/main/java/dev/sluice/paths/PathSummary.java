package dev.sluice.paths;

import java.util.List;

/**
 * The part of a critical path that sums of paths keep.
 *
 * @param services processing times, in the order in which the request first reaches the services
 * @param signature the names of the services, of bounded length
 */
public record PathSummary(CriticalPath path, List<ServiceTime> services, String signature) {
  public static PathSummary of(CriticalPath path) {
    return of(path, new Signatures());
  }

  /**
   * The same, for many paths.
   *
   * @param signatures of earlier paths
   */
  public static PathSummary of(CriticalPath path, Signatures signatures) {
    List<ServiceTime> services = ServiceTimes.of(path);
    return new PathSummary(path, services, signatures.of(services));
  }

  /** End to end: from the start of the root span to its end. */
  public long durationNs() {
    return path.root().durationNs();
  }
}
