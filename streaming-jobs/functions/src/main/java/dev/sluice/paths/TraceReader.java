package dev.sluice.paths;

import dev.sluice.otlp.MalformedMessageException;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.traces.SharedIds;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Splits a message into its traces, with the decoder of the jobs.
 *
 * <p>Unlike a job, it accepts any time from 1970 to 2262, and spans without a service name: it
 * reads recordings unchanged.
 */
final class TraceReader {
  private final TraceRequestDecoder decoder = new TraceRequestDecoder();
  private final Map<String, List<TraceSpan>> traces = new LinkedHashMap<>();
  private List<TraceSpan> current;
  private long high;
  private long low;
  private int unusable;

  /**
   * Reads one message.
   *
   * @param message an ExportTraceServiceRequest
   * @return its usable spans by trace id in hexadecimal, in order of first appearance
   */
  Map<String, List<TraceSpan>> read(byte[] message) throws MalformedMessageException {
    traces.clear();
    current = null;
    unusable = 0;
    decoder.decode(message, this::add);
    traces.replaceAll((id, spans) -> SharedIds.apart(spans));
    return traces;
  }

  /** Spans of the last message that have an invalid id, or a time after 2262. */
  int unusable() {
    return unusable;
  }

  private void add(Span span) {
    if (!span.hasValidIds() || span.startNs() < 0 || span.endNs() < 0) {
      unusable++;
      return;
    }
    if (current == null || span.traceIdHigh() != high || span.traceIdLow() != low) {
      high = span.traceIdHigh();
      low = span.traceIdLow();
      current = traces.computeIfAbsent(span.traceIdHex(), id -> new ArrayList<>());
    }
    current.add(TraceSpan.of(span, 0));
  }
}
