package dev.sluice.bounds;

import dev.sluice.otlp.Span;

/** The name of everything that does not count separately, because there are too many names. */
public final class Rest {
  /** Replaces a service, instance, host, peer or operation. */
  public static final String NAME = "(more)";

  private Rest() {}

  /** Whether it is a SERVER, CONSUMER or root span: its operation is the kind of request. */
  public static boolean isEntry(int kind, long parentId) {
    return kind == Span.SERVER || kind == Span.CONSUMER || parentId == 0;
  }

  /** Whether a span with such names counts under the rest. */
  public static boolean isIn(String service, String instance, String host) {
    return NAME.equals(service) || NAME.equals(instance) || NAME.equals(host);
  }

  /** Whether a span counts under the rest by its peer or operation, if its kind has a bound. */
  public static boolean isIn(int kind, long parentId, String peer, String operation) {
    return (kind == Span.CLIENT || kind == Span.PRODUCER) && NAME.equals(peer)
        || isEntry(kind, parentId) && NAME.equals(operation);
  }
}
