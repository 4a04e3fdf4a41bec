package dev.sluice.traces;

/**
 * What trace assembly keeps of a span.
 *
 * @param spanId never 0
 * @param parentId 0 for a root
 * @param kind as in {@link dev.sluice.otlp.Span}
 * @param peer "" where the span names none
 * @param receivedMs Kafka record time of the message that brought it
 */
public record TraceSpan(
    long spanId,
    long parentId,
    int kind,
    boolean error,
    long startNs,
    long durationNs,
    String service,
    String peer,
    long receivedMs) {

  public long endNs() {
    return startNs + durationNs;
  }
}
