package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;

/**
 * A span on a critical path.
 *
 * @param selfNs sum of its sections on the path; 0 where its children cover it wholly
 * @param depth number of its ancestors: 0 for the root
 * @param lengthNs from its start to its end, corrected and clipped: its sections and those of all
 *     spans below it
 * @param waitNs of a SERVER span below the CLIENT span of its call: how long the request waited for
 *     a thread before it ({@link Walk}). It is part of the CLIENT span's {@code selfNs}
 */
public record PathSpan(TraceSpan span, long selfNs, int depth, long lengthNs, long waitNs) {}
