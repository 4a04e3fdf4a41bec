package dev.sluice.windows;

import dev.sluice.otlp.Span;

/**
 * A point where concurrency is bounded, on one instance.
 *
 * @param clientSide false for the server side, whose peer is ""
 */
public record ResourcePoint(String service, String instance, boolean clientSide, String peer) {
  /** Peer of a client span that names none. */
  public static final String UNKNOWN_PEER = "unknown";

  /** Of a span of either side; the peer of a client span is that of its attributes. */
  public static ResourcePoint of(Span span) {
    if (span.isServerSide()) {
      return new ResourcePoint(span.service(), span.instance(), false, "");
    }
    return client(span.service(), span.instance(), span.peer());
  }

  /**
   * The connections of an instance to a peer.
   *
   * @param peer "" where it is not known
   */
  public static ResourcePoint client(String service, String instance, String peer) {
    return new ResourcePoint(service, instance, true, peer.isEmpty() ? UNKNOWN_PEER : peer);
  }

  /** Whether {@link #of} would give this point: without making one. */
  public boolean covers(Span span) {
    return clientSide != span.isServerSide()
        && service.equals(span.service())
        && instance.equals(span.instance())
        && (!clientSide || peer.equals(peerOf(span)));
  }

  /** The peer under which a span of either side is counted when it is read: "" for the server's. */
  public static String peerOf(Span span) {
    if (span.isServerSide()) {
      return "";
    }
    return span.peer().isEmpty() ? UNKNOWN_PEER : span.peer();
  }

  /** {@code windows.side}. */
  public String side() {
    return clientSide ? "client" : "server";
  }
}
