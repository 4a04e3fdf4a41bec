package dev.sluice.paths;

import dev.sluice.traces.TraceSpan;
import java.util.Collection;
import java.util.List;

/**
 * The critical paths of a trace: one for each root, which is nearly always one.
 *
 * <ol>
 *   <li>The walk goes back from the end of a span: last child to finish, the same in there, on from
 *       that child's start ({@link Walk}).
 *   <li>Of children that touch, or overlap by no more than {@link Serial} allows, both are on the
 *       path ({@link Walk}).
 *   <li>Of children that end together the one that starts later wins, then the larger id ({@link
 *       Siblings}).
 *   <li>A child that overflows its parent is clipped to it, one outside it is dropped with all
 *       below it ({@link Placement}).
 *   <li>A SERVER child of a CLIENT span on another host is moved to fit ({@link ClockSkew}).
 *   <li>CONSUMER children of PRODUCER spans, and spans that are only linked to their trace, are on
 *       no path ({@link Placement}).
 *   <li>An orphan is a root of its own, and its path incomplete. A root of zero length has an empty
 *       path.
 *   <li>Sections never overlap, and sum to the root's duration at most.
 * </ol>
 *
 * <p>A pure function of the set of spans: their order does not matter. O(n log n) in time, O(n) in
 * memory, whatever the shape.
 */
public final class CriticalPaths {
  private final List<CriticalPath> paths;
  private final int[] excluded;

  CriticalPaths(List<CriticalPath> paths, int[] excluded) {
    this.paths = paths;
    this.excluded = excluded;
  }

  /**
   * Computes the paths of a single trace; for many, keep a {@link CriticalPathFinder}.
   *
   * @param spans of one trace, in any order; start times must not be negative
   */
  public static CriticalPaths of(Collection<TraceSpan> spans) {
    return new CriticalPathFinder().find(spans);
  }

  /** By start of their roots. */
  public List<CriticalPath> paths() {
    return paths;
  }

  /** Number of spans that are on no path, and cannot be, for this reason. */
  public int excluded(Exclusion reason) {
    return excluded[reason.ordinal()];
  }
}
