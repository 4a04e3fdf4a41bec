package dev.sluice.otlp;

import java.util.Locale;

/**
 * A figure of a pool. Values are whole numbers, so that sums are exact: 1 for connections, threads
 * and requests, 1e-9 s for times.
 */
public enum PoolFigure {
  /** The most connections or threads; 0 for a pool without a limit. */
  SIZE(true),
  /** Connections or threads that are taken. */
  USED(true),
  /** Those that are open and not taken. */
  IDLE(true),
  /** The most that stay open while they are not taken. */
  IDLE_MAX(true),
  /** Requests that wait for one, or tasks in the queue of threads. */
  PENDING(true),
  /** Requests that got none in time. */
  TIMEOUTS(false),
  /** Requests that waited. */
  WAITS(false),
  /** Their time together. */
  WAIT_TIME(false),
  /** Connections that were given back. */
  USES(false),
  /** The time for which they were taken, together. */
  USE_TIME(false),
  /** Requests that a server answered, however few of them spans show. */
  REQUESTS(false),
  /** Those of them that failed by the server's fault. */
  FAILED_REQUESTS(false);

  private static final double NS_PER_SECOND = 1e9;

  private final boolean isLevel;
  private final String label = name().toLowerCase(Locale.ROOT);

  PoolFigure(boolean isLevel) {
    this.isLevel = isLevel;
  }

  /** The name in {@code pool_metrics.figure} and in the mapping table. */
  public String label() {
    return label;
  }

  /** Whether a point is the state at its time; else it adds up. */
  public boolean isLevel() {
    return isLevel;
  }

  /** Whether it is in seconds. */
  public boolean isTime() {
    return this == WAIT_TIME || this == USE_TIME;
  }

  /** Smallest units in one. */
  public double scale() {
    return isTime() ? NS_PER_SECOND : 1;
  }

  /** The number of times in a sum of times. */
  PoolFigure number() {
    return this == WAIT_TIME ? WAITS : USES;
  }
}
