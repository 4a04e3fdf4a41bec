package dev.sluice.otlp;

import java.util.Locale;

/** What a pool of the mapping table holds, as its metrics tell. */
public enum PoolSide {
  /** Connections to a database. */
  CLIENT,
  /** Threads of a web server. */
  SERVER,
  /** Threads, of any use. */
  EXECUTOR;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The name in {@code pool_metrics.side} and in the mapping table. */
  public String label() {
    return label;
  }
}
