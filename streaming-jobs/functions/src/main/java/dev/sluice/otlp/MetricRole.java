package dev.sluice.otlp;

import java.util.Locale;

/**
 * The meaning of a metric for a host, a container or a collector. Values are whole numbers of the
 * smallest unit that is kept, so that sums are exact: 1e-9 for ratios (0..1) and cores, 1 for bytes
 * and spans.
 */
public enum MetricRole {
  /** Ratio of one CPU's time that it was idle. */
  HOST_CPU_IDLE(1e9),
  /** Cores in use on the host. */
  HOST_CPU_USED(1e9),
  /** Cores that the host has. */
  HOST_CPU_CORES(1e9),
  /** Bytes a second between CPUs and memory. */
  HOST_MEMORY_BANDWIDTH(1),
  /** The same as a ratio of the host's capacity. */
  HOST_MEMORY_BANDWIDTH_UTILIZATION(1e9),
  /** Bytes a second on the host's interfaces, in and out. */
  HOST_NETWORK(1),
  /** Ratio of an interface's speed. */
  HOST_NETWORK_UTILIZATION(1e9),
  /** Cores in use by a container. */
  CONTAINER_CPU(1e9),
  /** Cores that a container may use. */
  CONTAINER_CPU_LIMIT(1e9),
  /** Spans that a collector acknowledged. */
  COLLECTOR_SPANS_ACCEPTED(1),
  /** Spans that it refused, with an error to their sender. */
  COLLECTOR_SPANS_REFUSED(1),
  /** Spans that Kafka acknowledged to it. */
  COLLECTOR_SPANS_SENT(1),
  /** Spans that it dropped. */
  COLLECTOR_SPANS_FAILED(1),
  /** Bytes of spans that wait in it for Kafka. */
  COLLECTOR_QUEUE(1);

  private final double scale;
  private final String label = name().toLowerCase(Locale.ROOT);

  MetricRole(double scale) {
    this.scale = scale;
  }

  /** Smallest units in one unit. */
  public double scale() {
    return scale;
  }

  /** The name in {@code resource_metrics.role} and in the mapping table. */
  public String label() {
    return label;
  }

  /** Whether it describes a host, whatever runs there. */
  public boolean isOfHost() {
    return label.startsWith("host_");
  }
}
