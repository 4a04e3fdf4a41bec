package dev.sluice.accounting;

/**
 * The outcome of a span, or of a metric's point. Each one that a job reads has exactly one outcome.
 */
public enum Outcome {
  ACCEPTED("accepted"),
  /** Accepted, but the span or its message has too many rows: its oldest part is not counted. */
  ACCEPTED_CUT("accepted_cut"),
  /** Accepted in full, under the name of the rest: there were too many names. */
  ACCEPTED_MORE("accepted_more"),
  /** Accepted in full, but it ended longer ago than the lateness within which results are exact. */
  ACCEPTED_LATE("accepted_late"),
  /** Its message came before, byte for byte. */
  REPEATED_MESSAGE("repeated_message"),
  /** The message could not be decoded: no span of it is known. */
  MALFORMED_MESSAGE("malformed_message"),
  /** No message can hold it: the collector replaced it by a tombstone. */
  TOO_LARGE("too_large"),
  MISSING_SERVICE("missing_service"),
  BAD_ID("bad_id"),
  CLOCK_OUT_OF_RANGE("clock_out_of_range"),
  ENDS_BEFORE_START("ends_before_start"),
  /** Its trace already has a span with this id: a span was sent twice, in different messages. */
  DUPLICATE_SPAN("duplicate_span"),
  /** Its trace has more spans than are kept. */
  TRACE_TOO_LARGE("trace_too_large"),
  /** Its message has more trace ids than are kept: it belongs to no trace. */
  TOO_MANY_TRACES("too_many_traces"),
  /** A metric's point whose resource has no host, or no container. */
  MISSING_IDENTITY("missing_identity"),
  /** A metric's point that is negative, not a number, or too large. */
  VALUE_OUT_OF_RANGE("value_out_of_range");

  private final String label;

  Outcome(String label) {
    this.label = label;
  }

  /** The name in {@code ingest_counts.outcome} and in a dead letter's {@code reason}. */
  public String label() {
    return label;
  }

  public boolean isAccepted() {
    return this == ACCEPTED
        || this == ACCEPTED_CUT
        || this == ACCEPTED_MORE
        || this == ACCEPTED_LATE;
  }
}
