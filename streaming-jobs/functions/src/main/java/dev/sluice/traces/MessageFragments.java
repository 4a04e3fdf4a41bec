package dev.sluice.traces;

import java.util.List;

/**
 * The fragments of one message that one task assembles. They travel as one record: what a record
 * costs on its way, it costs once a message, and not once a fragment.
 *
 * @param task number of the task
 * @param fragments at least one; of any order
 */
public record MessageFragments(int task, List<TraceFragment> fragments) {}
