package dev.sluice.flink;

import dev.sluice.accounting.Validity;
import dev.sluice.bounds.Limits;
import dev.sluice.rules.SpanRules;
import dev.sluice.traces.OpenTraces;
import dev.sluice.windows.Spread;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.flink.table.functions.FunctionContext;

/**
 * Settings of the table functions, passed as global job parameters (the jobs set all of them; the
 * job files hold their defaults and legal ranges).
 */
final class Settings {
  private static final String PREFIX = "sluice.";

  /**
   * Record time without a span after which calls that an open trace shows are counted: the parts of
   * one request that processes send at the same time come within it.
   */
  private static final long PREVIEW_MS = 1_000;

  private final UnaryOperator<String> parameters;

  private Settings(UnaryOperator<String> parameters) {
    this.parameters = parameters;
  }

  static Settings of(FunctionContext context) {
    return new Settings(name -> context.getJobParameter(name, null));
  }

  static Settings of(Map<String, String> parameters) {
    return new Settings(parameters::get);
  }

  Validity validity() {
    return new Validity(number("max-age-ms"), number("max-ahead-ms"), number("lateness-ms"));
  }

  Spread spread() {
    return new Spread(number("bucket-ms"), number("max-spread-ms"));
  }

  /** The limits of one partition in a window of record time. */
  Limits limits() {
    return new Limits(
        number("bounds-window-ms"),
        Math.toIntExact(number("most-services")),
        Math.toIntExact(number("most-instances")),
        Math.toIntExact(number("most-hosts")),
        Math.toIntExact(number("most-peers")),
        Math.toIntExact(number("most-operations")),
        Math.toIntExact(number("most-series")),
        number("most-spread-rows"));
  }

  /** Trace ids of one message that are kept. */
  int messageTraces() {
    return Math.toIntExact(number("message-traces"));
  }

  /**
   * Limit of the call trees, and of the signatures of critical paths, of one root operation in one
   * window.
   */
  int rootVariants() {
    return Math.toIntExact(number("root-variants"));
  }

  long repeatWindowMs() {
    return number("repeat-window-ms");
  }

  /** The rules that decide the {@link dev.sluice.otlp.Use} of a span. */
  SpanRules spanRules() {
    return SpanRules.parse(
        new String(Base64.getUrlDecoder().decode(text("span-rules")), StandardCharsets.UTF_8));
  }

  long edgeWindowMs() {
    return number("edge-window-ms");
  }

  long sampleWindowMs() {
    return number("sample-window-ms");
  }

  int traceMaxSpans() {
    return Math.toIntExact(number("trace-max-spans"));
  }

  /**
   * How long traces are open; the late time is 0 where no job counts late spans.
   *
   * @param heapBytes that this process may take
   * @param slots of this process
   */
  OpenTraces.Bounds openTraces(long heapBytes, int slots) {
    return new OpenTraces.Bounds(
        number("trace-quiet-ms"),
        wants(SpanView.EDGE) ? PREVIEW_MS : 0,
        number("trace-max-age-ms"),
        wants(SpanView.TRACE_COUNT) ? number("trace-late-ms") : 0,
        traceMaxSpans(),
        Math.toIntExact(number("trace-open-spans")),
        heapBytes / 100 * number("trace-heap-percent") / slots);
  }

  /** How often the job writes clock records, in ms; 0: never. */
  long clockRecordsMs() {
    return number("clock-records-ms");
  }

  /**
   * Without clock records: the time after which a partition without records no longer holds back
   * the watermark.
   */
  long idleMs() {
    return number("idle-ms");
  }

  /** Sums of messages are emitted twice for each time that Flink adds them to its own. */
  long partialFlushMs() {
    return Math.max(1, number("mini-batch-ms") / 2);
  }

  long pathWindowMs() {
    return number("path-window-ms");
  }

  /** Whether a job of this Flink job reads a table. */
  boolean wants(SpanView table) {
    return List.of(text("span-tables").split(";")).contains(table.label());
  }

  /** Whether a job reads a table of closed traces. */
  boolean assemblesTraces() {
    return SpanView.OF_TRACES.stream().anyMatch(this::wants);
  }

  private long number(String name) {
    String value = text(name);
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "read job parameter " + PREFIX + name + ": not a whole number: " + value, e);
    }
  }

  private String text(String name) {
    String value = parameters.apply(PREFIX + name);
    if (value == null) {
      throw new IllegalArgumentException("read job parameter " + PREFIX + name + ": it is not set");
    }
    return value;
  }
}
