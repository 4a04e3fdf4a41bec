package dev.sluice.otlp;

/** The role of a span for the pool on whose side it is. */
public enum Use {
  /** It holds a thread, or a connection. */
  HELD,
  /** It is no load of the pool, nor are the spans nested in it; for example a probe. */
  LEFT_OUT,
  /** It waits for a connection, and has none yet; spans nested in it count. */
  WAITING,
  /** It surrounds the span that holds the thread, as a sidecar's does; spans nested in it count. */
  AROUND
}
