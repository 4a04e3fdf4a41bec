package dev.sluice.trees;

import dev.sluice.traces.TraceSpan;

/**
 * What a root waited for: the services that were entered below it, in stages.
 *
 * @param root the span that began the tree
 * @param text the tree as {@link TreeText} writes it: trees of the same shape have the same text
 */
public record CallTree(TraceSpan root, String text) {}
