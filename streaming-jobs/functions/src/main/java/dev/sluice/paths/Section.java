package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;

/**
 * An interval of a critical path that one span spends itself, without waiting for a child: {@code
 * [startNs, endNs)}, never empty.
 *
 * @param startNs epoch ns, after the correction for clock skew and clipping
 * @param endNs epoch ns, greater than {@code startNs}
 */
public record Section(TraceSpan span, long startNs, long endNs) {
  public long durationNs() {
    return endNs - startNs;
  }
}
