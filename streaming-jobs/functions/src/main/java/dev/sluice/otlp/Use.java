package dev.sluice.otlp;

/** What a span is to the pool on whose side it is. */
public enum Use {
  /** It holds a thread, or a connection. */
  HELD,
  /** It is no load of the pool, nor is what is nested in it: a probe, say. */
  LEFT_OUT,
  /** It waits for a connection, and has none yet; what is nested in it counts. */
  WAITING,
  /** It stands around what holds the thread, as a sidecar's does; what is nested in it counts. */
  AROUND
}
