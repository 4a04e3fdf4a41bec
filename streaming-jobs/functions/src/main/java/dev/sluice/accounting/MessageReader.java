package dev.sluice.accounting;

import dev.sluice.otlp.MalformedMessageException;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.List;

/**
 * Reads one message: passes its valid spans to a stage, and accounts for every span exactly once.
 *
 * <p>All or nothing for the message: when it is malformed, the stage forgets its spans, and the
 * message counts once. One by one for its spans: a bad span does not affect the others. Spans of a
 * repeated message are only counted, valid or not.
 */
public final class MessageReader {
  private static final long NS_PER_MS = 1_000_000;

  private final TraceRequestDecoder decoder;
  private final Validity validity;
  private final SpanStage stage;
  private final SpanBounds bounds;
  private final OutcomeCounts counts = new OutcomeCounts();
  private final OutcomeCounts cut = new OutcomeCounts();
  private final DeadLetters deadLetters = new DeadLetters();
  private long recordTimeMs;

  public MessageReader(Validity validity, SpanStage stage, SpanBounds bounds) {
    this(new TraceRequestDecoder(), validity, stage, bounds);
  }

  /**
   * @param decoder decodes the messages
   */
  public MessageReader(
      TraceRequestDecoder decoder, Validity validity, SpanStage stage, SpanBounds bounds) {
    this.decoder = decoder;
    this.validity = validity;
    this.stage = stage;
    this.bounds = bounds;
  }

  /**
   * Reads a message; stage, {@link #counts} and {@link #deadLetters} then hold its results until
   * the next one.
   *
   * @param message an ExportTraceServiceRequest; null, as Kafka's tombstones are, is malformed
   * @param recordTimeMs when the broker appended it
   * @param repeated whether the same bytes came before
   */
  public void read(byte[] message, long recordTimeMs, boolean repeated) {
    clear();
    this.recordTimeMs = recordTimeMs;
    if (message == null) {
      reject("record has no value", new byte[0]);
      return;
    }
    try {
      decoder.decode(message, repeated ? this::repeated : this::span);
    } catch (MalformedMessageException e) {
      clear();
      reject(e.getMessage(), message);
    }
  }

  public OutcomeCounts counts() {
    return counts;
  }

  /** Visits the counts for callers that use each span whole, also one that the stage cut. */
  public void forEachWhole(OutcomeCounts.Visitor visitor) {
    counts.forEach(
        (key, sums) -> {
          if (key.outcome() != Outcome.ACCEPTED_CUT) {
            visitor.visit(key, sums);
          }
        });
    cut.forEach(visitor);
  }

  /** Only the first few of each reason; the counts are complete. */
  public List<DeadLetter> deadLetters() {
    return deadLetters.list();
  }

  private void span(Span span) {
    Outcome outcome = validity.judge(span, recordTimeMs);
    if (outcome.isAccepted()) {
      accept(span);
    } else {
      deadLetters.add(outcome, () -> DeadLetter.ofSpan(outcome, span, recordTimeMs));
      bounds.rename(span);
      counts.span(outcome, span.service(), 0);
    }
  }

  private void accept(Span span) {
    boolean more = bounds.rename(span);
    Outcome whole = more ? Outcome.ACCEPTED_MORE : validity.accepted(span.endNs(), recordTimeMs);
    bounds.shorten(span);
    boolean isCut = stage.accept(span) == Outcome.ACCEPTED_CUT;
    long emitLagMs = recordTimeMs - span.endNs() / NS_PER_MS;
    counts.span(isCut ? Outcome.ACCEPTED_CUT : whole, span.service(), emitLagMs);
    if (isCut) {
      cut.span(whole, span.service(), emitLagMs);
    }
  }

  private void repeated(Span span) {
    bounds.rename(span);
    counts.span(Outcome.REPEATED_MESSAGE, span.service(), 0);
  }

  private void reject(String detail, byte[] payload) {
    counts.message(Outcome.MALFORMED_MESSAGE);
    deadLetters.add(Outcome.MALFORMED_MESSAGE, () -> DeadLetter.ofMessage(detail, payload));
  }

  private void clear() {
    stage.clear();
    counts.clear();
    cut.clear();
    deadLetters.clear();
  }
}
