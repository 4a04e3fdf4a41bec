package dev.sluice.paths;

/**
 * A service's part in a critical path.
 *
 * @param selfNs PT, its processing time: the sum of its spans' time on the path
 * @param upstreamNs the processing time of all services above it, which its own deadline must leave
 *     to them (Sora, section 3.2, equation 3)
 */
public record ServiceTime(String service, long selfNs, long upstreamNs) {}
