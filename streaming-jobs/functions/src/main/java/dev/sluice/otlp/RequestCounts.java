package dev.sluice.otlp;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The requests that a server counted, over all attributes of one metric: a route and a status each
 * would be a series, and nobody asks for them. The counts of one time add up to one count, as all
 * points of a metric are of one time.
 */
final class RequestCounts {
  private static final String[] STATUS = {
    "http.response.status_code", "http.status_code", "status" // the last one is Micrometer's
  };
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

  private final Map<Long, Sum> sums = new TreeMap<>();

  void clear() {
    sums.clear();
  }

  void add(SortedMap<String, String> attributes, long startNs, long timeNs, double count) {
    Sum sum = sums.computeIfAbsent(timeNs, absent -> new Sum());
    sum.startNs = Math.min(sum.startNs, startNs);
    sum.requests += count;
    sum.failed += isFailed(attributes) ? count : 0;
  }

  /** By time, ns of the Unix epoch. */
  Map<Long, Sum> sums() {
    return sums;
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
