package dev.sluice.latency;

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.functions.ScalarFunction;

/**
 * SQL {@code latency_quantile_ms(MAP, q)}: the smallest duration that at least the share q of all
 * durations does not exceed (nearest rank), as the middle of its bucket, in ms; NULL when there are
 * none.
 */
public final class LatencyQuantile extends ScalarFunction {
  private static final long serialVersionUID = 1L;
  private static final double NS_PER_MS = 1e6;

  public Double eval(@DataTypeHint("MAP<SMALLINT, INT>") Map<Short, Integer> latency, Double q) {
    if (latency == null || q == null) {
      return null;
    }
    return ofMs(latency, q);
  }

  static Double ofMs(Map<Short, Integer> latency, double q) {
    long total = latency.values().stream().mapToLong(Integer::longValue).sum();
    long rank = Math.max(1, (long) Math.ceil(q * total));
    long rankSoFar = 0;
    for (Map.Entry<Short, Integer> entry : new TreeMap<>(latency).entrySet()) {
      rankSoFar += entry.getValue();
      if (rankSoFar >= rank) {
        return LatencyIndex.middleNs(entry.getKey()) / NS_PER_MS;
      }
    }
    return null;
  }
}
