package dev.sluice.traces;

import dev.sluice.bounds.Rest;
import dev.sluice.otlp.Span;

/**
 * What trace assembly keeps of a span.
 *
 * @param spanId never 0; as {@link Span#spanId} gives it
 * @param parentId 0 for a root
 * @param kind as in {@link Span}
 * @param linked whether a link leads to a span of the same trace
 * @param peer "" where the span names none
 * @param operation the span's name
 * @param host where its clock stands, "" where that is not known
 * @param instance the process that recorded it, "" where that is not known
 * @param receivedMs Kafka record time of the message that brought it
 * @param movable whether it was counted in the fine windows, exactly as {@link
 *     dev.sluice.windows.Spread} says, under a peer that is not a service's name
 */
public record TraceSpan(
    long spanId,
    long parentId,
    int kind,
    boolean error,
    boolean linked,
    long startNs,
    long durationNs,
    String service,
    String peer,
    String operation,
    String host,
    String instance,
    long receivedMs,
    boolean movable) {
  private static final long NS_PER_MS = 1_000_000;

  /** A span that is not movable. */
  public TraceSpan(
      long spanId,
      long parentId,
      int kind,
      boolean error,
      boolean linked,
      long startNs,
      long durationNs,
      String service,
      String peer,
      String operation,
      String host,
      String instance,
      long receivedMs) {
    this(
        spanId,
        parentId,
        kind,
        error,
        linked,
        startNs,
        durationNs,
        service,
        peer,
        operation,
        host,
        instance,
        receivedMs,
        false);
  }

  /** A copy of a span that the decoder shows, with valid ids; not movable. */
  public static TraceSpan of(Span span, long receivedMs) {
    return of(span, receivedMs, false);
  }

  static TraceSpan of(Span span, long receivedMs, boolean movable) {
    return new TraceSpan(
        span.spanId(),
        span.parentId(),
        known(span.kind()),
        span.isError(),
        span.isLinked(),
        span.startNs(),
        span.durationNs(),
        span.service(),
        span.peer(),
        span.operation(),
        span.host(),
        span.instance(),
        receivedMs,
        movable);
  }

  /** A kind of a later version is none that anybody asks for. */
  private static int known(int kind) {
    return kind < 0 || kind > Span.CONSUMER ? 0 : kind;
  }

  /** The same span, not movable. */
  TraceSpan settled() {
    return new TraceSpan(
        spanId,
        parentId,
        kind,
        error,
        linked,
        startNs,
        durationNs,
        service,
        peer,
        operation,
        host,
        instance,
        receivedMs);
  }

  public long endNs() {
    return startNs + durationNs;
  }

  /**
   * Start of the window that contains the span's end, in ms of the Unix epoch; windows are [start,
   * end).
   */
  public long windowMs(long lengthMs) {
    return Math.floorDiv(endNs() / NS_PER_MS, lengthMs) * lengthMs;
  }

  /**
   * The same of what shows only its newest window: a span cannot end after it was received, so one
   * whose clock is ahead counts when it was received, and does not hide what comes after it.
   */
  public long shownWindowMs(long lengthMs) {
    return Math.floorDiv(Math.min(endNs() / NS_PER_MS, receivedMs), lengthMs) * lengthMs;
  }

  /** Whether it counts under the name of the rest. */
  public boolean isInRest() {
    return Rest.isIn(kind, parentId, service, instance, host, peer, operation);
  }
}
