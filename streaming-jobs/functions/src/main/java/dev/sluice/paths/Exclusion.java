package dev.sluice.paths;

/**
 * Why a span takes part in no critical path of its trace. A span has at most one reason. The spans
 * below an excluded span have the same reason, except below a duplicate and below a span that ends
 * before it starts: both are removed before any parent is looked up.
 */
public enum Exclusion {
  /** Another span of the trace has this id, and precedes in the order of {@link SpanOrder}. */
  DUPLICATE_SPAN("duplicate_span"),
  ENDS_BEFORE_START("ends_before_start"),
  /** Names itself as its parent. */
  SELF_PARENT("self_parent"),
  /** Its ancestors form a ring, so that it is below no root. */
  CYCLE("cycle"),
  /** It is wholly outside its parent's time. */
  OUTSIDE_PARENT("outside_parent"),
  /**
   * No span waits for it: a CONSUMER span below a PRODUCER span, or a span without a parent that is
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
