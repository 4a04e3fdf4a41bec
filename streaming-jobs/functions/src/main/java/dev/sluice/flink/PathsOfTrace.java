package dev.sluice.flink;

import dev.sluice.paths.CriticalPath;
import dev.sluice.paths.CriticalPathFinder;
import dev.sluice.paths.CriticalPaths;
import dev.sluice.paths.PathSummary;
import dev.sluice.paths.Signatures;
import dev.sluice.traces.Trace;
import java.util.ArrayList;
import java.util.List;

/** The critical paths of the trace that is being closed, computed once for all columns. */
final class PathsOfTrace {
  private final CriticalPathFinder finder = new CriticalPathFinder();
  private final Signatures signatures = new Signatures();
  private Trace trace;
  private CriticalPaths walked;
  private List<PathSummary> summaries;

  CriticalPaths walked(Trace closed) {
    if (trace != closed) {
      trace = closed;
      walked = finder.find(closed.spans());
      summaries = new ArrayList<>(walked.paths().size());
      for (CriticalPath path : walked.paths()) {
        summaries.add(PathSummary.of(path, signatures));
      }
    }
    return walked;
  }

  /** The paths, ordered by start of their roots. */
  List<PathSummary> of(Trace closed) {
    walked(closed);
    return summaries;
  }
}
