package dev.sluice.otlp;

/**
 * One number of a metric in the mapping table.
 *
 * @param host the first of the host attributes of its resource, or ""
 * @param instance the first of the instance attributes of its resource, or ""
 * @param rank of the metric among those of the same role
 * @param series identifies the point among those of its metric, host and instance: its attributes
 *     as {@code name=value} in the order of their names
 * @param startNs since when a sum adds up, 0 if that is not known; ns of the Unix epoch, as {@code
 *     timeNs}
 * @param value in the unit of the role, for COUNTER and DELTA times seconds
 */
public record MetricPoint(
    MetricRole role,
    int rank,
    String host,
    String instance,
    String series,
    Kind kind,
    long startNs,
    long timeNs,
    double value) {

  /** The relation of a series' points. */
  public enum Kind {
    /** Each is the state at its time: gauges, and sums that may fall. */
    LEVEL("level"),
    /** A sum since {@code startNs}, which only grows. */
    COUNTER("counter"),
    /** The amount added since the point before. */
    DELTA("delta");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** The name in {@code resource_metrics.kind}. */
    public String label() {
      return label;
    }
  }
}
