package dev.sluice.paths;

import static dev.sluice.otlp.Span.INTERNAL;

import dev.sluice.traces.Place;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Traces for tests, span by span; ids are small numbers, times plain ns. */
final class Spans {
  private final List<TraceSpan> spans = new ArrayList<>();
  private String service = "s";
  private String host = "";

  static Spans trace() {
    return new Spans();
  }

  /** A span as the decoder gives it for the 8 bytes of {@code id} in big endian. */
  static TraceSpan span(
      long id,
      long parent,
      int kind,
      boolean linked,
      long start,
      long end,
      String at,
      String host) {
    return new TraceSpan(
        Long.reverseBytes(id),
        Long.reverseBytes(parent),
        kind,
        false,
        linked,
        start,
        end - start,
        at,
        "",
        "",
        "op" + id,
        host,
        "",
        0,
        Place.NONE);
  }

  /** A service on a path on which nobody waited for a thread. */
  static ServiceTime time(String service, long selfNs, long upstreamNs) {
    return new ServiceTime(service, selfNs, upstreamNs, upstreamNs, 0, selfNs);
  }

  /** The service of the spans that follow. */
  Spans of(String name) {
    service = name;
    return this;
  }

  /** The host of the spans that follow. */
  Spans on(String name) {
    host = name;
    return this;
  }

  Spans add(long id, long parent, long start, long end) {
    return add(id, parent, INTERNAL, start, end);
  }

  Spans add(long id, long parent, int kind, long start, long end) {
    spans.add(span(id, parent, kind, false, start, end, service, host));
    return this;
  }

  Spans linked(long id, long start, long end) {
    spans.add(span(id, 0, INTERNAL, true, start, end, service, host));
    return this;
  }

  List<TraceSpan> list() {
    return spans;
  }

  CriticalPaths paths() {
    return CriticalPaths.of(spans);
  }

  /** The only path. */
  CriticalPath path() {
    List<CriticalPath> paths = paths().paths();
    if (paths.size() != 1) {
      throw new AssertionError("expected one path, not " + paths);
    }
    return paths.get(0);
  }

  static long id(TraceSpan span) {
    return Long.reverseBytes(span.spanId());
  }

  /** "id:start-end" of each section, in order of time. */
  static String text(CriticalPath path) {
    return path.sections().stream()
        .map(section -> id(section.span()) + ":" + section.startNs() + "-" + section.endNs())
        .collect(Collectors.joining(" "));
  }
}
