package dev.sluice.traces;

/** Why a trace was closed. */
public enum Cause {
  /** No span of it came for the quiet time. */
  QUIET("closed_quiet"),
  /** It never fell quiet, up to the maximum age. */
  MAX_AGE("closed_max_age"),
  /** There was no more room for it: parts of it may still come. */
  EARLY("closed_early");

  private final String label;

  Cause(String label) {
    this.label = label;
  }

  /** The name in {@code trace_counts.cause}. */
  public String label() {
    return label;
  }
}
