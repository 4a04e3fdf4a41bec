package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Calls that previews count, and closed traces, are those of closed traces alone in the end. */
class PreviewTest {
  private static final int MOST_SPANS = 10;
  private static final long WINDOW_MS = 1_000;
  private static final String[] SERVICES = {"front", "cart", "stock"};
  private static final int[] KINDS = {Span.SERVER, Span.CLIENT, Span.INTERNAL, Span.CONSUMER};

  private record Edge(CallEdges.Key key, long calls, long errors, String latency, long closed) {
    private static Edge of(CallEdges.Key key, CallEdges.Calls sums) {
      String latency = sums.latency().toString();
      return new Edge(key, sums.calls(), sums.errors(), latency, sums.closed());
    }
  }

  /** Calls with previews and without them. */
  private static final class Sums implements OpenTraces.Closing {
    private final Map<CallEdges.Key, CallEdges.Calls> early = new HashMap<>();
    private final Map<CallEdges.Key, CallEdges.Calls> inTheEnd = new HashMap<>();
    private final Map<CallEdges.Key, Long> shown = new HashMap<>();
    private final boolean shared;
    private int previews;

    private Sums(boolean shared) {
      this.shared = shared;
    }

    @Override
    public void close(byte[] traceId, Session session, Trace trace, Cause cause, boolean late) {
      CallEdges.add(trace, WINDOW_MS, early);
      CallEdges.add(trace, WINDOW_MS, inTheEnd);
      show();
    }

    @Override
    public void preview(Trace trace, int times) {
      CallEdges.preview(trace, WINDOW_MS, early, times);
      if (times > 0) {
        previews++;
        show();
      }
    }

    /**
     * The graph keeps the largest number of calls that it saw of a window. Where two spans share an
     * id and one comes later, calls may become fewer.
     */
    private void show() {
      early.forEach(
          (key, calls) -> {
            if (!shared) {
              assertThat(calls.calls()).isGreaterThanOrEqualTo(shown.getOrDefault(key, 0L));
            }
            shown.put(key, calls.calls());
          });
    }

    @Override
    public void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess) {}

    private static List<Edge> edges(Map<CallEdges.Key, CallEdges.Calls> sums) {
      List<Edge> edges = new ArrayList<>();
      sums.forEach((key, calls) -> edges.add(Edge.of(key, calls)));
      edges.removeIf(edge -> edge.latency.equals("{}"));
      edges.sort((a, b) -> a.toString().compareTo(b.toString()));
      return edges;
    }
  }

  /** Of few ids, so that some repeat. Those of one id are alike, or two tracers share it. */
  private static TraceSpan span(Random random, boolean shared) {
    int id = 1 + random.nextInt(12);
    int kind = shared ? random.nextInt(KINDS.length) : id % KINDS.length;
    return new TraceSpan(
        id,
        random.nextInt(id),
        KINDS[kind],
        random.nextInt(4) == 0,
        false,
        MIDNIGHT_MS * 1_000_000,
        random.nextInt(3_000) * 1_000_000L,
        SERVICES[random.nextInt(SERVICES.length)],
        random.nextBoolean() ? "db" : "",
        "",
        "op",
        "",
        "",
        MIDNIGHT_MS + 600_000,
        Place.NONE);
  }

  @Property(tries = 500)
  void callsAreTheSameInTheEndAndNeverFewer(@ForAll long seed, @ForAll boolean shared) {
    Random random = new Random(seed);
    Sums sums = new Sums(shared);
    OpenTraces.Bounds bounds =
        new OpenTraces.Bounds(5_000, 1_000, 20_000, 30_000, MOST_SPANS, 100_000, 1 << 30);
    OpenTraces traces = new OpenTraces(bounds, sums);
    long afterMs = 0;
    for (int i = 0; i < 60; i++) {
      afterMs += random.nextInt(4) == 0 ? random.nextInt(6_000) : random.nextInt(300);
      List<TraceSpan> fragment = new ArrayList<>();
      for (int spans = random.nextInt(4); spans >= 0; spans--) {
        fragment.add(span(random, shared));
      }
      TraceId id = new TraceId(1, 1 + random.nextInt(3));
      traces.add(new TraceFragment(id, MIDNIGHT_MS + afterMs, 0, i, fragment));
      if (random.nextInt(3) > 0) {
        traces.advance(MIDNIGHT_MS + afterMs);
      }
      if (random.nextInt(8) == 0) {
        OpenTraces restored = new OpenTraces(bounds, sums);
        traces.snapshot().forEach(chunk -> restored.restore(chunk, mine -> true));
        traces = restored;
      }
    }
    traces.advance(Long.MAX_VALUE);
    assertThat(Sums.edges(sums.early)).isEqualTo(Sums.edges(sums.inTheEnd)).isNotEmpty();
    assertThat(sums.previews).isPositive();
  }
}
