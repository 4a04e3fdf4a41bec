package dev.sluice.otlp;

/** The role of a span for the pool on whose side it is. */
public enum Use {
  /** It holds a thread, or a connection. */
  HELD,
  /** It is no load of the pool, nor are the spans nested in it; for example a probe. */
  LEFT_OUT,
  /** It waits for a connection, and has none yet; spans nested in it count. */
  WAITING,
  /** It surrounds the span that holds the thread, as a stream does; spans nested in it count. */
  AROUND,
  /** It counts, and holds no thread of a pool: an event loop or a virtual thread serves it. */
  NOT_A_POOL,
  /** A proxy's: it counts unless its application's span does, of which it says the same. */
  SIDECAR;

  /** Whether the span is in the fine windows. */
  public boolean counts() {
    return this == HELD || this == NOT_A_POOL || this == SIDECAR;
  }
}
