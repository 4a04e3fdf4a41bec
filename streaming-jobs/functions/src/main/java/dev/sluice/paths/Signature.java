package dev.sluice.paths;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The name of a request's way: the services on its critical path, each once, in the order in which
 * the request first reached them. {@code frontend > search > geo > profile}.
 *
 * <p>A way of many services is cut after the last that fits into 1,000 bytes. A hash of the whole
 * way follows, so that different ways keep different names: {@code a > b > … 9e3779b97f4a7c15}.
 */
final class Signature {
  static final int MAX_BYTES = 1_000;
  private static final String ARROW = " > ";
  private static final String CUT = "…";

  // FNV-1a with 64 bits: stable over versions of Java, and good enough for a handful of long ways.
  private static final long FNV_OFFSET = 0xCBF2_9CE4_8422_2325L;
  private static final long FNV_PRIME = 0x100_0000_01B3L;

  private Signature() {}

  /** The signature of a path through these services. */
  static String of(List<ServiceTime> services) {
    StringBuilder all = new StringBuilder();
    int fits = 0;
    int bytes = 0;
    for (ServiceTime part : services) {
      String step = (all.isEmpty() ? "" : ARROW) + part.service();
      bytes += step.getBytes(StandardCharsets.UTF_8).length;
      all.append(step);
      fits = bytes <= MAX_BYTES ? all.length() : fits;
    }
    if (fits == all.length()) {
      return all.toString();
    }
    String kept = fits == 0 ? "" : all.substring(0, fits) + ARROW;
    return kept + CUT + " " + String.format("%016x", hash(all));
  }

  private static long hash(CharSequence text) {
    long hash = FNV_OFFSET;
    for (byte octet : text.toString().getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (octet & 0xFF)) * FNV_PRIME;
    }
    return hash;
  }
}
