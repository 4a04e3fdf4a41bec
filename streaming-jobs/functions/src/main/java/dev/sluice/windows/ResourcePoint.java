package dev.sluice.windows;

import dev.sluice.otlp.Span;

/**
 * A pool of one instance, where concurrency is bounded.
 *
 * @param peer "" unless it is of the client side
 */
public record ResourcePoint(String service, String instance, Side side, String peer) {
  /** Peer of a client span without one. */
  public static final String UNKNOWN_PEER = "unknown";

  /** The point of a span of any side; the peer of a client span is its callee, if one is known. */
  public static ResourcePoint of(Span span) {
    Side side = Side.of(span);
    if (side == Side.CLIENT) {
      return client(span.service(), span.instance(), countedPeer(span));
    }
    return new ResourcePoint(span.service(), span.instance(), side, "");
  }

  /**
   * The connections of an instance to a peer.
   *
   * @param peer "" where it is not known
   */
  public static ResourcePoint client(String service, String instance, String peer) {
    return new ResourcePoint(service, instance, Side.CLIENT, orUnknown(peer));
  }

  /** Whether {@link #of} would give this point, without making one. */
  public boolean covers(Span span) {
    return side == Side.of(span)
        && service.equals(span.service())
        && instance.equals(span.instance())
        && (side != Side.CLIENT || peer.equals(orUnknown(countedPeer(span))));
  }

  /** The peer of a span by its attributes: "" unless it is of the client side. */
  public static String peerOf(Span span) {
    return span.isServerSide() ? "" : orUnknown(span.peer());
  }

  private static String countedPeer(Span span) {
    return span.callee().isEmpty() ? span.peer() : span.callee();
  }

  private static String orUnknown(String peer) {
    return peer.isEmpty() ? UNKNOWN_PEER : peer;
  }
}
