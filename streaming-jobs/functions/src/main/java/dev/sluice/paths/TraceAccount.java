package dev.sluice.paths;

import dev.sluice.traces.Cause;
import dev.sluice.traces.TraceSpan;
import java.util.Collection;
import java.util.List;

/**
 * The outcome of a trace, by cause.
 *
 * <ul>
 *   <li>The label of its {@link Cause}: why it was closed. Each trace has exactly one, so that
 *       these sum to all traces.
 *   <li>{@code late}: its trace id was closed not long before. It is a late part of that trace, or
 *       the id was used again.
 *   <li>{@code incomplete}: it has an orphan, whose parent never came, or not in time.
 *   <li>{@code empty}: it has no path at all.
 *   <li>The labels of {@link Exclusion}: it has spans that can be on no path.
 * </ul>
 *
 * @param spans all its spans, each id once; at least one
 */
public record TraceAccount(
    Cause closed, boolean late, Collection<TraceSpan> spans, CriticalPaths walked) {
  private static final Exclusion[] REASONS = Exclusion.values();

  /** Receives a cause that applies, and the number of spans: all, or those excluded for it. */
  @FunctionalInterface
  public interface Visitor {
    void visit(String cause, int spans);
  }

  /**
   * The service of its root; without a root that of its first orphan, and without an orphan that of
   * its first span.
   */
  public String service() {
    List<CriticalPath> paths = walked.paths();
    for (CriticalPath path : paths) {
      if (!path.incomplete()) {
        return path.root().service();
      }
    }
    return paths.isEmpty()
        ? spans.stream().min(SpanOrder::byStart).map(TraceSpan::service).orElse("")
        : paths.get(0).root().service();
  }

  private boolean isIncomplete() {
    for (CriticalPath path : walked.paths()) {
      if (path.incomplete()) {
        return true;
      }
    }
    return false;
  }

  /** Visits every cause that applies. */
  public void forEach(Visitor visitor) {
    visitor.visit(closed.label(), spans.size());
    if (late) {
      visitor.visit("late", spans.size());
    }
    if (isIncomplete()) {
      visitor.visit("incomplete", spans.size());
    }
    if (walked.paths().isEmpty()) {
      visitor.visit("empty", spans.size());
    }
    for (Exclusion reason : REASONS) {
      if (walked.excluded(reason) > 0) {
        visitor.visit(reason.label(), walked.excluded(reason));
      }
    }
  }
}
