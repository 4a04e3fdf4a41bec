package dev.sluice.bounds;

/**
 * How many names of each kind, and how many rows of long spans, one partition may bring in each
 * window of record time.
 *
 * @param windowMs length of a window
 * @param services names of services
 * @param instances pairs of service and instance
 * @param hosts names of hosts
 * @param peers pairs of service and peer by its attributes
 * @param operations pairs of service and operation, of {@link Rest#isEntry entries}
 * @param series of metrics, each of a host and instance
 * @param spreadRows rows of spans that touch more than {@link dev.sluice.windows.Spread#SHORT}
 *     buckets
 */
public record Limits(
    long windowMs,
    int services,
    int instances,
    int hosts,
    int peers,
    int operations,
    int series,
    long spreadRows) {}
