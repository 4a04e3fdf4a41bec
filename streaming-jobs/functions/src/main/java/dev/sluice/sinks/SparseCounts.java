package dev.sluice.sinks;

/**
 * The cells of a histogram in a sink's form: a MAP of SMALLINT to INT without boxes.
 *
 * @param keys ascending
 * @param values as many as keys
 */
public record SparseCounts(short[] keys, int[] values) {}
