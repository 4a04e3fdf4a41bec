package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.List;

/**
 * What a request waited for, from the start of its root span to its end.
 *
 * <p>The sections never overlap. They fill the root's duration, of which their sum is therefore
 * never more. A root of zero length has no sections.
 *
 * @param incomplete whether the root is an orphan: it names a parent that the trace does not hold
 * @param sections in order of time; two of one span never touch
 * @param spans each span on the path once, in the order in which the request reaches them: parents
 *     before children, children in order of time, and a span's descendants right behind it
 */
public record CriticalPath(
    TraceSpan root, boolean incomplete, List<Section> sections, List<PathSpan> spans) {}
