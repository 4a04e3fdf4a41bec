package dev.sluice.paths;

import java.util.List;

/** Signatures of paths. Most ways were seen before: the last few are kept with their services. */
public final class Signatures {
  private record Known(String[] services, String signature) {
    private boolean isOf(List<ServiceTime> way) {
      if (services.length != way.size()) {
        return false;
      }
      for (int i = 0; i < services.length; i++) {
        if (!services[i].equals(way.get(i).service())) {
          return false;
        }
      }
      return true;
    }
  }

  private static final int SLOT_BITS = 7;

  /** Longer ways are written each time: it bounds what is kept. */
  private static final int MOST_SERVICES = 100;

  // The golden ratio of 2^32: spreads hashes (Knuth, TAOCP 3, 6.4).
  private static final int SPREAD = 0x9E37_79B9;

  private final Known[] known = new Known[1 << SLOT_BITS];

  /** {@link Signature#of} these services. */
  String of(List<ServiceTime> services) {
    if (services.size() > MOST_SERVICES) {
      return Signature.of(services);
    }
    int hash = 1;
    for (ServiceTime part : services) {
      hash = 31 * hash + part.service().hashCode();
    }
    int slot = hash * SPREAD >>> Integer.SIZE - SLOT_BITS;
    Known last = known[slot];
    if (last == null || !last.isOf(services)) {
      String[] names = services.stream().map(ServiceTime::service).toArray(String[]::new);
      last = new Known(names, Signature.of(services));
      known[slot] = last;
    }
    return last.signature;
  }
}
