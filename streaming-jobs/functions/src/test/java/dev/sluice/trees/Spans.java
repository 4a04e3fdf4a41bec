package dev.sluice.trees;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;

import dev.sluice.otlp.Requests;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.traces.FragmentAccumulator;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** A trace for tests, span by span; times in ms after midnight. */
final class Spans {
  /** A span and its service. */
  private record OwnedSpan(String service, Span.Builder span) {}

  private static final int MANY = 100_000;

  private final List<OwnedSpan> spans = new ArrayList<>();
  private String service = "";

  static Spans trace() {
    return new Spans();
  }

  /** The service of the spans that follow. */
  Spans of(String name) {
    service = name;
    return this;
  }

  Spans add(long id, long parent, int kind, double startMs, double endMs) {
    return add(id, parent, kind, startMs, endMs, "op" + id, "");
  }

  Spans add(
      long id, long parent, int kind, double startMs, double endMs, String operation, String peer) {
    Span.Builder span = Requests.span(id, kind, startMs, endMs).setName(operation);
    if (parent != 0) {
      span.setParentSpanId(id(parent, 8));
    }
    if (!peer.isEmpty()) {
      span.addAttributes(attribute("peer.service", peer));
    }
    spans.add(new OwnedSpan(service, span));
    return this;
  }

  /** A root that is linked to a span of its own trace. */
  Spans linked(long id, int kind, double startMs, double endMs) {
    add(id, 0, kind, startMs, endMs);
    spans
        .get(spans.size() - 1)
        .span()
        .addLinks(Span.Link.newBuilder().setTraceId(id(1, 16)).setSpanId(id(1, 8)));
    return this;
  }

  Spans shuffle(Random random) {
    Collections.shuffle(spans, random);
    return this;
  }

  Trace assembled() {
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(MIDNIGHT_MS);
    List<TraceSpan> all = new ArrayList<>();
    try {
      for (OwnedSpan owned : spans) {
        accumulator.clear();
        new TraceRequestDecoder()
            .decode(message(service(owned.service(), owned.span())), accumulator::accept);
        accumulator.forEach((id, fragment) -> all.addAll(fragment));
      }
    } catch (Exception e) {
      throw new IllegalStateException("decode spans of a test", e);
    }
    return Trace.assemble(all, MANY);
  }

  /** The texts of the trace's trees, in order of text. */
  List<String> trees() {
    return trees(new TreeTexts());
  }

  List<String> trees(TreeTexts texts) {
    return CallTrees.of(assembled(), texts).stream()
        .map(CallTree::text)
        .sorted()
        .collect(Collectors.toList());
  }

  /** The text of the only tree. */
  String tree() {
    List<String> trees = trees();
    if (trees.size() != 1) {
      throw new AssertionError("expected one tree, not " + trees);
    }
    return trees.get(0);
  }
}
