package dev.sluice.paths;

import java.util.List;

/**
 * What became of a trace, by cause.
 *
 * <ul>
 *   <li>{@code closed_quiet} or {@code closed_max_age}: why it was closed. Each trace has exactly
 *       one of the two, so that they sum to all traces.
 *   <li>{@code late}: its trace id was closed not long before. It is a part of that trace that came
 *       too late, or the id was used again.
 *   <li>{@code incomplete}: it has an orphan, whose parent never came, or not in time.
 *   <li>{@code empty}: it has no path at all.
 *   <li>The labels of {@link Exclusion}: it has spans that can be on no path.
 * </ul>
 *
 * @param spans how many spans it has, each id once
 */
public record TraceAccount(boolean atMaxAge, boolean late, int spans, CriticalPaths walked) {
  /** Receives a cause that applies, and the number of spans: all, or those excluded for it. */
  @FunctionalInterface
  public interface Visitor {
    void visit(String cause, int spans);
  }

  /** The service of its root, or of its first orphan where there is no root; "" without either. */
  public String service() {
    List<CriticalPath> paths = walked.paths();
    return paths.stream()
        .filter(path -> !path.incomplete())
        .findFirst()
        .or(() -> paths.stream().findFirst())
        .map(path -> path.root().service())
        .orElse("");
  }

  /** Visits every cause that applies. */
  public void forEach(Visitor visitor) {
    visitor.visit(atMaxAge ? "closed_max_age" : "closed_quiet", spans);
    if (late) {
      visitor.visit("late", spans);
    }
    if (walked.paths().stream().anyMatch(CriticalPath::incomplete)) {
      visitor.visit("incomplete", spans);
    }
    if (walked.paths().isEmpty()) {
      visitor.visit("empty", spans);
    }
    for (Exclusion reason : Exclusion.values()) {
      if (walked.excluded(reason) > 0) {
        visitor.visit(reason.label(), walked.excluded(reason));
      }
    }
  }
}
