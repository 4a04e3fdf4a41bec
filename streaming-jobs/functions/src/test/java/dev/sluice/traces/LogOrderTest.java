package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Traces are a function of the log: which partition is read first, and by how much, is none. */
class LogOrderTest {
  private static final int PARTITIONS = 3;
  private static final int MOST_SPANS = 4;

  /** A message of one span. */
  private record Sent(long afterMs, int partition, long offset, int trace, int spanId) {
    private TraceFragment fragment() throws Exception {
      long recordMs = MIDNIGHT_MS + afterMs;
      FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(recordMs);
      byte[] bytes =
          message(service("a", span(spanId, Span.SERVER, 0, 1).setTraceId(id(trace, 16))));
      new TraceRequestDecoder().decode(bytes, accumulator::accept);
      List<TraceFragment> fragments = new ArrayList<>();
      accumulator.forEach(
          (traceId, spans) ->
              fragments.add(new TraceFragment(traceId, recordMs, partition, offset, spans)));
      return fragments.get(0);
    }
  }

  /** What became of all spans: lines in no order. */
  private static final class Output implements OpenTraces.Closing {
    private final List<String> lines = new ArrayList<>();

    @Override
    public void close(byte[] traceId, Session session, Trace trace, Cause cause, boolean late) {
      List<String> spans = new ArrayList<>();
      trace.spans().forEach(span -> spans.add(at(span)));
      long firstMs = session.firstMs() - MIDNIGHT_MS;
      lines.add(traceId[15] + " " + cause + " since " + firstMs + " " + late + " " + spans);
      leaveOut(trace.duplicates(), trace.excess());
    }

    @Override
    public void preview(Trace trace, int times) {}

    @Override
    public void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess) {
      duplicates.forEach(span -> lines.add("duplicate " + at(span)));
      excess.forEach(span -> lines.add("excess " + at(span)));
    }

    private static String at(TraceSpan span) {
      return Long.toHexString(span.spanId()) + "@" + (span.receivedMs() - MIDNIGHT_MS);
    }
  }

  /** A log whose gaps are about the quiet time, of few traces that have too many spans. */
  private static List<List<Sent>> log(Random random, int records) {
    List<List<Sent>> partitions = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      partitions.add(new ArrayList<>());
    }
    long afterMs = 0;
    for (int i = 0; i < records; i++) {
      afterMs += random.nextInt(4) == 0 ? random.nextInt(6_000) : random.nextInt(3);
      int number = random.nextInt(PARTITIONS);
      List<Sent> partition = partitions.get(number);
      partition.add(
          new Sent(
              afterMs, number, partition.size(), 1 + random.nextInt(3), 1 + random.nextInt(7)));
    }
    return partitions;
  }

  /** Reads all of it: partitions at random, with the watermark of what was read. */
  private static List<String> outputOf(List<List<Sent>> partitions, Random random)
      throws Exception {
    Output output = new Output();
    OpenTraces.Bounds bounds =
        new OpenTraces.Bounds(5_000, 1_000, 20_000, 30_000, MOST_SPANS, 100_000, 1 << 30);
    OpenTraces traces = new OpenTraces(bounds, output);
    int[] next = new int[PARTITIONS];
    int left = partitions.stream().mapToInt(List::size).sum();
    while (left > 0) {
      int partition = random.nextInt(PARTITIONS);
      // One partition is ahead of the others for a while.
      for (int run = random.nextInt(8);
          run > 0 && next[partition] < partitions.get(partition).size();
          run--) {
        traces.add(partitions.get(partition).get(next[partition]++).fragment());
        left--;
      }
      if (random.nextBoolean()) {
        traces.advance(watermark(partitions, next));
      }
      if (random.nextInt(5) == 0) {
        OpenTraces restored = new OpenTraces(bounds, output);
        traces.snapshot().forEach(chunk -> restored.restore(chunk, id -> true));
        assertThat(restored.spans()).isEqualTo(traces.spans());
        traces = restored;
      }
    }
    traces.advance(Long.MAX_VALUE);
    assertThat(traces.spans()).isZero();
    assertThat(traces.heapBytes()).isZero();
    Collections.sort(output.lines);
    return output.lines;
  }

  /** The least record time that was read last in any partition. */
  private static long watermark(List<List<Sent>> partitions, int[] next) {
    long leastMs = Long.MAX_VALUE;
    for (int i = 0; i < PARTITIONS; i++) {
      List<Sent> sent = partitions.get(i);
      if (next[i] < sent.size()) {
        leastMs =
            next[i] == 0 ? Long.MIN_VALUE : Math.min(leastMs, sent.get(next[i] - 1).afterMs());
      }
      if (leastMs == Long.MIN_VALUE) {
        return leastMs;
      }
    }
    return leastMs == Long.MAX_VALUE ? leastMs : MIDNIGHT_MS + leastMs;
  }

  @Property(tries = 300)
  void whicheverPartitionIsReadFirst(@ForAll long seed, @ForAll @IntRange(max = 80) int records)
      throws Exception {
    List<List<Sent>> log = log(new Random(seed), records);
    List<String> expected = outputOf(log, new Random(seed + 1));
    assertThat(outputOf(log, new Random(seed + 2))).isEqualTo(expected);
    assertThat(outputOf(log, new Random(seed + 3))).isEqualTo(expected);
  }
}
