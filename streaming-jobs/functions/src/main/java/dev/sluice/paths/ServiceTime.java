package dev.sluice.paths;

/**
 * A service's part in a critical path.
 *
 * @param selfNs PT, its processing time: the sum of its spans' time on the path. It includes the
 *     waits for threads of its callees
 * @param upstreamNs the processing time of all services above it, for which its own deadline must
 *     leave room (Sora, section 3.2, equation 3). It includes a wait for its own threads: a
 *     threshold that starts with its SERVER spans has lost that time already
 * @param callUpstreamNs the same, with each wait for threads counted for the service that owns
 *     them: a threshold that starts with its callers' CLIENT spans includes the wait
 * @param waitNs how long its callers waited for its threads
 * @param blameNs its processing time, and its share of the waits for threads that it held ({@link
 *     Blame})
 */
public record ServiceTime(
    String service, long selfNs, long upstreamNs, long callUpstreamNs, long waitNs, long blameNs) {}
