package dev.sluice.accounting;

import dev.sluice.otlp.Span;

/**
 * Decides whether a span can be used: a pure function of the span and of the time at which Kafka
 * took its message, so that every job, and every replay, decides alike.
 *
 * <p>A span's start and end must lie in {@code [record time - maxAge, record time + maxAhead]}. Of
 * several faults the first in this order is the reason: {@code too_large}, {@code missing_service},
 * {@code bad_id}, {@code clock_out_of_range}, {@code ends_before_start}.
 *
 * @param maxAgeMs how long before the record time a span may be
 * @param maxAheadMs how far a host's clock may be ahead of the broker's
 * @param latenessMs how long before the record time a span may end without counting as late
 */
public record Validity(long maxAgeMs, long maxAheadMs, long latenessMs) {
  private static final long NS_PER_MS = 1_000_000;
  // Above this, milliseconds do not fit into nanoseconds: 292 years.
  private static final long MAX_MS = Long.MAX_VALUE / NS_PER_MS;

  /** The outcome of the span: {@link Outcome#ACCEPTED} or the reason to reject it. */
  public Outcome judge(Span span, long recordTimeMs) {
    if (span.droppedBytes() > 0) {
      return Outcome.TOO_LARGE;
    }
    if (span.service().isEmpty()) {
      return Outcome.MISSING_SERVICE;
    }
    if (!span.hasValidIds()) {
      return Outcome.BAD_ID;
    }
    if (!covers(span.startNs(), recordTimeMs) || !covers(span.endNs(), recordTimeMs)) {
      return Outcome.CLOCK_OUT_OF_RANGE;
    }
    if (span.endNs() < span.startNs()) {
      return Outcome.ENDS_BEFORE_START;
    }
    return Outcome.ACCEPTED;
  }

  /** The outcome of a whole span: late when it ended more than the lateness ago. */
  public Outcome accepted(long endNs, long recordTimeMs) {
    return endNs < (recordTimeMs - latenessMs) * NS_PER_MS
        ? Outcome.ACCEPTED_LATE
        : Outcome.ACCEPTED;
  }

  /** Whether a time, ns of the Unix epoch, can be used. */
  public boolean covers(long ns, long recordTimeMs) {
    // OTLP times are unsigned: a negative number here is after the year 2262.
    if (ns <= 0 || recordTimeMs > MAX_MS - maxAheadMs) {
      return false;
    }
    long ms = ns / NS_PER_MS;
    return ms >= recordTimeMs - maxAgeMs && ms <= recordTimeMs + maxAheadMs;
  }
}
