package dev.sluice.traces;

import dev.sluice.bounds.Rest;
import dev.sluice.otlp.Span;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Side;

/**
 * The fields of a span that trace assembly keeps.
 *
 * @param spanId never 0; as {@link Span#spanId} gives it
 * @param parentId 0 for a root
 * @param kind as in {@link Span}
 * @param linked whether a link points to a span of the same trace
 * @param peer "" where the span has none
 * @param callee the service under which it was counted in place of its peer, "" for none
 * @param operation the span's name
 * @param host of its clock, "" where that is not known
 * @param instance the process that recorded it, "" where that is not known
 * @param receivedMs Kafka record time of its message
 * @param place its role in the fine windows: one of {@link Place}
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
    String callee,
    String operation,
    String host,
    String instance,
    long receivedMs,
    byte place) {
  private static final long NS_PER_MS = 1_000_000;

  /** A copy of a span that the decoder shows, with valid ids; not in the fine windows. */
  public static TraceSpan of(Span span, long receivedMs) {
    return of(span, receivedMs, Place.NONE);
  }

  static TraceSpan of(Span span, long receivedMs, byte place) {
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
        span.callee(),
        span.operation(),
        span.host(),
        span.instance(),
        receivedMs,
        place);
  }

  /** A kind of a later version becomes 0, which nothing uses. */
  private static int known(int kind) {
    return kind < 0 || kind > Span.CONSUMER ? 0 : kind;
  }

  /** Whether it is in the fine windows, exactly as {@link dev.sluice.windows.Spread} defines. */
  boolean counted() {
    return Place.isCounted(place);
  }

  /** Whether it is in the fine windows with a peer that is no service's name. */
  boolean movable() {
    return Place.isMovable(place);
  }

  /** Whether it is a sidecar's SERVER or CLIENT span. */
  boolean isSidecar() {
    return (place & Place.SIDECAR) != 0;
  }

  /**
   * The point under which it was counted when it was read; for a span that has a {@link #place}.
   */
  public ResourcePoint point() {
    return point(callee.isEmpty() ? peer : callee);
  }

  /** The same by its attributes alone. */
  public ResourcePoint attributesPoint() {
    return point(peer);
  }

  private ResourcePoint point(String ofPeer) {
    return switch (kind) {
      case Span.SERVER -> new ResourcePoint(service, instance, Side.SERVER, "");
      case Span.CONSUMER -> new ResourcePoint(service, instance, Side.CONSUMER, "");
      default -> ResourcePoint.client(service, instance, ofPeer);
    };
  }

  /** The same span under other ids. */
  TraceSpan with(long newSpanId, long newParentId) {
    return copy(newSpanId, newParentId, place);
  }

  /** The same span, from which nothing can be taken back any more. */
  TraceSpan settled() {
    return place == Place.NONE ? this : copy(spanId, parentId, Place.settled(place));
  }

  private TraceSpan copy(long newSpanId, long newParentId, byte newPlace) {
    return new TraceSpan(
        newSpanId,
        newParentId,
        kind,
        error,
        linked,
        startNs,
        durationNs,
        service,
        peer,
        callee,
        operation,
        host,
        instance,
        receivedMs,
        newPlace);
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
   * The same for a use that shows only its newest window. A span cannot end after it was received,
   * so a span whose clock is ahead counts when it was received, and does not hide later ones.
   */
  public long shownWindowMs(long lengthMs) {
    return Math.floorDiv(Math.min(endNs() / NS_PER_MS, receivedMs), lengthMs) * lengthMs;
  }

  /** Whether it counts under the name of the rest. */
  public boolean isInRest() {
    return Rest.isIn(service, instance, host) || Rest.isIn(kind, parentId, peer, operation);
  }
}
