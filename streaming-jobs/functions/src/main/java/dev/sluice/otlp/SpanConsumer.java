package dev.sluice.otlp;

/** Takes the spans of one message in their order. */
@FunctionalInterface
public interface SpanConsumer {
  /** The span is valid during this call only. */
  void accept(Span span);
}
