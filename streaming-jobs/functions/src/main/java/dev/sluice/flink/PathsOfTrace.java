package dev.sluice.flink;

import dev.sluice.paths.CriticalPathFinder;
import dev.sluice.paths.CriticalPaths;
import dev.sluice.paths.PathSummary;
import dev.sluice.traces.Trace;
import java.util.List;

/** The critical paths of the trace that is being closed, computed once for all columns. */
final class PathsOfTrace {
  private final CriticalPathFinder finder = new CriticalPathFinder();
  private Trace trace;
  private CriticalPaths walked;
  private List<PathSummary> summaries;

  CriticalPaths walked(Trace closed) {
    if (trace != closed) {
      trace = closed;
      walked = finder.find(closed.spans());
      summaries = walked.paths().stream().map(PathSummary::of).toList();
    }
    return walked;
  }

  /** The paths, ordered by start of their roots. */
  List<PathSummary> of(Trace closed) {
    walked(closed);
    return summaries;
  }
}
