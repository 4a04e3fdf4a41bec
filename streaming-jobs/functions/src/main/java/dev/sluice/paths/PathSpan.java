package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;

/**
 * A span that a critical path leads through.
 *
 * @param selfNs sum of its sections on the path; 0 where its children cover it wholly
 * @param depth number of its ancestors: 0 for the root
 */
public record PathSpan(TraceSpan span, long selfNs, int depth) {}
