package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.List;

/**
 * The time that a request waited for, from the start of its root span to its end.
 *
 * <p>The sections never overlap. They fill the root's duration, so their sum is never more. A root
 * of zero length has no sections.
 *
 * @param incomplete whether the root is an orphan: its parent is not in the trace
 * @param sections in order of time; two of one span never touch
 * @param spans each span on the path once, in the order in which the request reaches them: parents
 *     before children, children in order of time, and a span's descendants directly after it
 */
public record CriticalPath(
    TraceSpan root, boolean incomplete, List<Section> sections, List<PathSpan> spans) {}
