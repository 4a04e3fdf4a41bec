package dev.sluice.windows;

import dev.sluice.otlp.Span;

/**
 * The pool of an instance in which a span holds a place. Listeners of queues have threads of their
 * own, and batches that last for seconds: counted with requests, they would fill a pool of request
 * threads that is nearly idle.
 */
public enum Side {
  /** SERVER spans: threads that serve requests. */
  SERVER("server"),
  /** CLIENT and PRODUCER spans: connections to one peer. */
  CLIENT("client"),
  /** CONSUMER spans: threads that work on messages. */
  CONSUMER("consumer");

  private final String label;

  Side(String label) {
    this.label = label;
  }

  /** The side of a span that is not INTERNAL. */
  public static Side of(Span span) {
    if (span.isClientSide()) {
      return CLIENT;
    }
    return span.kind() == Span.CONSUMER ? CONSUMER : SERVER;
  }

  /** {@code windows.side}. */
  public String label() {
    return label;
  }
}
