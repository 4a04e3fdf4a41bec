package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.util.Map;

/**
 * The calls between containers that a trace shows, summed as {@link CallEdges}: a span whose parent
 * belongs to another service is a call from the parent's container. Messages are left out, because
 * their sender does not choose the container, and calls from or to an unknown container.
 */
public final class ContainerCalls {
  /**
   * Two containers in a window.
   *
   * @param windowMs start of the window, ms of the Unix epoch
   */
  public record Key(
      String caller, String callerInstance, String callee, String calleeInstance, long windowMs) {}

  private ContainerCalls() {}

  /** Adds the calls of a trace to those of others. */
  public static void add(Trace trace, long windowMs, Map<Key, Long> calls) {
    for (int number = 0; number < trace.size(); number++) {
      TraceSpan span = trace.span(number);
      TraceSpan parent = trace.parentOf(number);
      if (parent == null
          || span.kind() == Span.CONSUMER
          || parent.service().equals(span.service())
          || parent.instance().isEmpty()
          || span.instance().isEmpty()) {
        continue;
      }
      Key key =
          new Key(
              parent.service(),
              parent.instance(),
              span.service(),
              span.instance(),
              span.shownWindowMs(windowMs));
      calls.merge(key, 1L, Long::sum);
    }
  }
}
