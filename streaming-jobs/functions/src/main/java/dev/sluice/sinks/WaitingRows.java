package dev.sluice.sinks;

import java.util.List;

/**
 * A part of the rows that wait for a store, in a checkpoint.
 *
 * @param columns names of the sink table's columns
 * @param rows each with one value per column: null, Boolean, Integer, Long, Double or String
 */
public record WaitingRows(List<String> columns, List<Object[]> rows) {}
