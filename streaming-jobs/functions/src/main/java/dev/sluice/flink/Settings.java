package dev.sluice.flink;

import dev.sluice.accounting.Validity;
import dev.sluice.windows.Spread;
import java.util.List;
import org.apache.flink.table.functions.FunctionContext;

/**
 * Settings of the table functions, passed as global job parameters (the jobs set all of them; the
 * job files hold their defaults and legal ranges).
 */
final class Settings {
  private static final String PREFIX = "sluice.";

  private final FunctionContext context;

  private Settings(FunctionContext context) {
    this.context = context;
  }

  static Settings of(FunctionContext context) {
    return new Settings(context);
  }

  Validity validity() {
    return new Validity(number("max-age-ms"), number("max-ahead-ms"), number("lateness-ms"));
  }

  Spread spread() {
    return new Spread(number("bucket-ms"), number("max-spread-ms"));
  }

  long repeatWindowMs() {
    return number("repeat-window-ms");
  }

  long edgeWindowMs() {
    return number("edge-window-ms");
  }

  long sampleWindowMs() {
    return number("sample-window-ms");
  }

  long traceQuietMs() {
    return number("trace-quiet-ms");
  }

  long traceMaxAgeMs() {
    return number("trace-max-age-ms");
  }

  int traceMaxSpans() {
    return Math.toIntExact(number("trace-max-spans"));
  }

  long traceLateMs() {
    return number("trace-late-ms");
  }

  long pathWindowMs() {
    return number("path-window-ms");
  }

  /** Whether a job of this Flink job reads the column of {@link ClosedTraces}. */
  boolean wantsTraceRows(String column) {
    return List.of(text("trace-rows").split(";")).contains(column);
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
    String value = context.getJobParameter(PREFIX + name, null);
    if (value == null) {
      throw new IllegalArgumentException("read job parameter " + PREFIX + name + ": it is not set");
    }
    return value;
  }
}
