package dev.sluice.bounds;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.util.HashMap;
import java.util.Map;

/**
 * Bounds of the names that messages of metrics may bring: hosts, services, instances of either, and
 * series. Each partition has its own, which depend on its record times and its order, as in {@link
 * LogBounds}. Unlike there, a restart forgets them: the names that come first after it count
 * separately.
 *
 * <p>Series are identified by 64 bits of their hash, as they are many and long: two series with the
 * same hash both count separately, so that the bound is exceeded by one.
 */
public final class MetricBounds {
  private static final Hasher64 HASHER = Hashing.xxh3_64(0x51ce);

  private final class Partition {
    private final RecordWindow window = new RecordWindow(limits.windowMs());
    private final KnownNames services = new KnownNames(limits.services());
    private final KnownNames hosts = new KnownNames(limits.hosts());
    private final KnownNames instances = new KnownNames(limits.instances());
    private final KnownNames series = new KnownNames(limits.series());

    private void advance(long recordMs) {
      for (int left = window.ended(recordMs); left > 0; left--) {
        services.turn();
        hosts.turn();
        instances.turn();
        series.turn();
      }
    }
  }

  private final Limits limits;
  private final Map<Integer, Partition> partitions = new HashMap<>();
  private Partition current;

  public MetricBounds(Limits limits) {
    this.limits = limits;
  }

  /** The next message is of this partition, and was appended at this time. */
  public void at(int partition, long recordMs) {
    current = partitions.computeIfAbsent(partition, absent -> new Partition());
    current.advance(recordMs);
  }

  /** The name, or {@link Rest#NAME} where there is no room for it. */
  public String service(String name) {
    return current.services.nameOrRest("", name);
  }

  /** The name, or {@link Rest#NAME} where there is no room for it. */
  public String host(String name) {
    return current.hosts.nameOrRest("", name);
  }

  /**
   * The name, or {@link Rest#NAME} where there is no room for it, or its owner is the rest.
   *
   * @param owner the host, or of a pool's metric the service
   */
  public String instance(String owner, String name) {
    return Rest.NAME.equals(owner) && !name.isEmpty()
        ? Rest.NAME
        : current.instances.nameOrRest(owner, name);
  }

  /** Whether a series of an owner and instance counts separately. */
  public boolean isSeparateSeries(String owner, String instance, String series, long startNs) {
    if (Rest.NAME.equals(owner) || Rest.NAME.equals(instance)) {
      return false;
    }
    long hash =
        HASHER
            .hashStream()
            .putString(owner)
            .putString(instance)
            .putString(series)
            .putLong(startNs)
            .getAsLong();
    return current.series.isSeparate("", Long.toHexString(hash));
  }
}
