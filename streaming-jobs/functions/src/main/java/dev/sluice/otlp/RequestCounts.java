package dev.sluice.otlp;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * The requests that a server counted, over all attributes of one metric: a route and a status each
 * would be a series, and nobody asks for them. The counts of one time add up to one count, as all
 * points of a metric are of one time.
 *
 * <p>Requests whose spans are left out by their route are not counted: spans are compared with
 * these counts. Sluice's own actuators ask Jolokia each second, in traces that are not sampled: a
 * request without a span, and with a count.
 */
final class RequestCounts {
  private static final String[] STATUS = {
    "http.response.status_code", "http.status_code", "status" // the last one is Micrometer's
  };
  private static final String[] ROUTE = {"http.route", "uri"}; // the last one is Micrometer's
  private static final int SERVER_FAULT = 500;

  /** The counts of one time. */
  static final class Sum {
    private long startNs = Long.MAX_VALUE;
    private double requests;
    private double failed;

    long startNs() {
      return startNs;
    }

    double requests() {
      return requests;
    }

    /** Those that failed by the server's fault. */
    double failed() {
      return failed;
    }
  }

  private final BiPredicate<String, String> leftOut;
  private final Map<Long, Sum> sums = new TreeMap<>();

  /**
   * @param leftOut whether spans of a service and a route are left out
   */
  RequestCounts(BiPredicate<String, String> leftOut) {
    this.leftOut = leftOut;
  }

  void clear() {
    sums.clear();
  }

  void add(
      String service,
      SortedMap<String, String> attributes,
      long startNs,
      long timeNs,
      double count) {
    // A sum without a point would be a gap, and the next one a restart.
    Sum sum = sums.computeIfAbsent(timeNs, absent -> new Sum());
    sum.startNs = Math.min(sum.startNs, startNs);
    if (isLeftOut(service, attributes)) {
      return;
    }
    sum.requests += count;
    sum.failed += isFailed(attributes) ? count : 0;
  }

  /** By time, ns of the Unix epoch. */
  Map<Long, Sum> sums() {
    return sums;
  }

  private boolean isLeftOut(String service, Map<String, String> attributes) {
    for (String name : ROUTE) {
      String route = attributes.get(name);
      if (route != null) {
        return leftOut.test(service, route);
      }
    }
    return false;
  }

  private static boolean isFailed(Map<String, String> attributes) {
    for (String name : STATUS) {
      String status = attributes.get(name);
      if (status != null) {
        return status.length() == 3 && status.compareTo(String.valueOf(SERVER_FAULT)) >= 0;
      }
    }
    return attributes.containsKey("error.type");
  }
}
