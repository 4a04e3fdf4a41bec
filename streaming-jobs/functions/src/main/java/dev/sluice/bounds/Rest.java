package dev.sluice.bounds;

import dev.sluice.otlp.Span;

/** The name under which everything counts that is not told apart, because there is too much. */
public final class Rest {
  /** In the place of a service, instance, host, peer or operation. */
  public static final String NAME = "(more)";

  private Rest() {}

  /** Whether it is a SERVER, CONSUMER or root span: its operation says what was asked for. */
  public static boolean isEntry(int kind, long parentId) {
    return kind == Span.SERVER || kind == Span.CONSUMER || parentId == 0;
  }

  /** Whether a span with such names counts under the rest, in any of those that are bounded. */
  public static boolean isIn(
      int kind,
      long parentId,
      String service,
      String instance,
      String host,
      String peer,
      String operation) {
    return NAME.equals(service)
        || NAME.equals(instance)
        || NAME.equals(host)
        || (kind == Span.CLIENT || kind == Span.PRODUCER) && NAME.equals(peer)
        || isEntry(kind, parentId) && NAME.equals(operation);
  }
}
