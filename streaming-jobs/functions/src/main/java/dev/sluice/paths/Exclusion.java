package dev.sluice.paths;

/**
 * Why a span takes no part in any critical path of its trace. A span has at most one reason; what
 * hangs below an excluded span has the same one, except below a duplicate and below a span that
 * ends before it starts (those are taken out before parents are looked up).
 */
public enum Exclusion {
  /** Another span of the trace has this id, and precedes in the order of {@link SpanOrder}. */
  DUPLICATE_SPAN("duplicate_span"),
  ENDS_BEFORE_START("ends_before_start"),
  /** Names itself as its parent. */
  SELF_PARENT("self_parent"),
  /** Its ancestors form a ring, so that no root leads to it. */
  CYCLE("cycle"),
  /** Lies wholly outside its parent's time. */
  OUTSIDE_PARENT("outside_parent"),
  /**
   * Nobody waits for it: a CONSUMER span below a PRODUCER span, or a span without a parent that is
   * linked to its own trace.
   */
  ASYNCHRONOUS("asynchronous");

  private final String label;

  Exclusion(String label) {
    this.label = label;
  }

  /** The name under which it is counted. */
  public String label() {
    return label;
  }
}
