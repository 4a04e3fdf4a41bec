package dev.sluice.sinks;

/**
 * A histogram's cells as a sink gets them: a MAP of SMALLINT to INT without boxes.
 *
 * @param keys ascending
 * @param values as many as keys
 */
public record SparseCounts(short[] keys, int[] values) {}
