package dev.sluice.paths;

/**
 * A service's part in a critical path.
 *
 * @param selfNs PT, its processing time: the sum of its spans' time on the path. What its callees
 *     let it wait for their threads is in it
 * @param upstreamNs the processing time of all services above it, which its own deadline must leave
 *     to them (Sora, section 3.2, equation 3). A wait for its own threads is in it: what is judged
 *     from the start of its SERVER spans on has lost that time already
 * @param callUpstreamNs the same, each wait for threads counted for the service that owns them:
 *     what is judged from the start of its callers' CLIENT spans on contains the wait
 * @param waitNs how long its callers waited for its threads
 * @param blameNs its processing time, and its share of the waits for threads that it held ({@link
 *     Blame})
 */
public record ServiceTime(
    String service, long selfNs, long upstreamNs, long callUpstreamNs, long waitNs, long blameNs) {}
