package dev.sluice.otlp;

/**
 * One figure of a pool at one time.
 *
 * @param rank of the metric among those of one pool and figure
 * @param service of its resource, or ""
 * @param instance the first of the instance attributes of its resource, or ""
 * @param pool the name of the pool in its attributes, or ""
 * @param peer the peer that its attributes or the pool's name give, as spans would name it, or ""
 * @param series as in {@link MetricPoint}
 * @param startNs as in {@link MetricPoint}
 * @param value in the figure's unit; NaN where the metric is of a kind or unit that the figure
 *     cannot have
 */
public record PoolPoint(
    PoolFigure figure,
    PoolSide side,
    int rank,
    String service,
    String instance,
    String pool,
    String peer,
    String series,
    MetricPoint.Kind kind,
    long startNs,
    long timeNs,
    double value) {}
