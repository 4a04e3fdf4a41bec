package dev.sluice.windows;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.accounting.Outcome;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class WindowAccumulatorTest {
  private static final long TEN_MINUTES_MS = 600_000;

  /** Start of the bucket, in ms after midnight: busy ms, completions, errors, contributions. */
  private record Row(double busyMs, long completions, long errors, long contributions) {}

  private final List<Outcome> outcomes = new ArrayList<>();

  private WindowAccumulator accumulate(long bucketMs, byte[] message) throws Exception {
    WindowAccumulator windows = new WindowAccumulator(new Spread(bucketMs, TEN_MINUTES_MS));
    new TraceRequestDecoder().decode(message, span -> outcomes.add(windows.accept(span)));
    return windows;
  }

  private Map<String, Row> rows(byte[] message) throws Exception {
    Map<String, Row> rows = new TreeMap<>();
    accumulate(100, message)
        .forEach(
            (point, partial) ->
                rows.put(
                    String.format(
                        "%s %s %s %d",
                        point.service(),
                        point.side().label(),
                        point.peer(),
                        partial.bucketMs() - MIDNIGHT_MS),
                    new Row(
                        partial.busyNs() / (double) MS,
                        partial.completions(),
                        partial.errors(),
                        partial.contributions())));
    return rows;
  }

  @Test
  void spanInsideOneBucket() throws Exception {
    assertThat(rows(message(service("cart", span(1, Span.SERVER, 10, 35)))))
        .isEqualTo(Map.of("cart server  0", new Row(25, 1, 0, 2)));
  }

  @Test
  void spanOverTwoBordersIsSpreadAndCompletesInTheLast() throws Exception {
    // [80, 230): 20 ms, 100 ms, 30 ms
    assertThat(rows(message(service("cart", span(1, Span.SERVER, 80, 230)))))
        .isEqualTo(
            Map.of(
                "cart server  0", new Row(20, 0, 0, 1),
                "cart server  100", new Row(100, 0, 0, 1),
                "cart server  200", new Row(30, 1, 0, 2)));
  }

  @Test
  void endOnABorderCompletesBehindIt() throws Exception {
    assertThat(rows(message(service("cart", span(1, Span.SERVER, 50, 100)))))
        .isEqualTo(
            Map.of(
                "cart server  0", new Row(50, 0, 0, 1), "cart server  100", new Row(0, 1, 0, 1)));
  }

  @Test
  void zeroLengthCompletesWithoutBeingBusy() throws Exception {
    assertThat(rows(message(service("cart", span(1, Span.SERVER, 200, 200)))))
        .isEqualTo(Map.of("cart server  200", new Row(0, 1, 0, 1)));
  }

  @Test
  void sidesPeersAndErrorsAreApartAndInternalSpansAreNone() throws Exception {
    byte[] message =
        message(
            service(
                "cart",
                span(1, Span.SERVER, 0, 10),
                failed(span(2, Span.CONSUMER, 0, 20)),
                span(3, Span.CLIENT, 0, 30).addAttributes(attribute("peer.service", "db")),
                span(4, Span.PRODUCER, 0, 40),
                span(5, Span.INTERNAL, 0, 50),
                span(6, 0, 0, 60)));
    assertThat(rows(message))
        .isEqualTo(
            Map.of(
                "cart server  0", new Row(10, 1, 0, 2),
                "cart consumer  0", new Row(20, 1, 1, 2),
                "cart client db 0", new Row(30, 1, 0, 2),
                "cart client unknown 0", new Row(40, 1, 0, 2)));
    assertThat(outcomes).hasSize(6).containsOnly(Outcome.ACCEPTED);
  }

  @Test
  void ofALongSpanTheNewestTenMinutesAreSpread() throws Exception {
    byte[] message = message(service("cart", span(1, Span.SERVER, -50, TEN_MINUTES_MS)));
    Map<String, Row> rows = rows(message);
    // [0, 600000) in 6000 buckets, and the completion at 600000 in one of its own
    assertThat(rows).hasSize(6001).doesNotContainKey("cart server  -100");
    assertThat(rows.get("cart server  0")).isEqualTo(new Row(100, 0, 0, 1));
    assertThat(outcomes).containsExactly(Outcome.ACCEPTED_CUT);
  }

  @Test
  void aMessageOfManyLongSpansFitsMemory() throws Exception {
    // 10,000 peers for ten minutes each would be 60 million rows: 33 of them are spread whole.
    io.opentelemetry.proto.trace.v1.Span.Builder[] spans =
        new io.opentelemetry.proto.trace.v1.Span.Builder[10_000];
    for (int i = 0; i < spans.length; i++) {
      spans[i] =
          span(i + 1, Span.CLIENT, 0, TEN_MINUTES_MS - 1)
              .addAttributes(attribute("peer.service", "pod-" + i));
    }
    long[] sums = new long[3];
    accumulate(100, message(service("cart", spans)))
        .forEach(
            (point, partial) -> {
              sums[0]++;
              sums[1] += partial.completions();
              sums[2] += partial.busyNs();
            });
    // 33 * 6000 and 2000 of the next; of the others the bucket of their end, of which 99 ms are
    // busy
    long whole = 33;
    long rest = spans.length - whole - 1;
    assertThat(sums[0]).isEqualTo(200_000 + rest);
    assertThat(sums[1]).isEqualTo(spans.length);
    assertThat(sums[2])
        .isEqualTo((whole * (TEN_MINUTES_MS - 1) + (1_999 * 100 + 99) + rest * 99) * MS);
    assertThat(outcomes.stream().filter(Outcome.ACCEPTED::equals)).hasSize((int) whole);
    assertThat(outcomes.stream().filter(Outcome.ACCEPTED_CUT::equals)).hasSize((int) rest + 1);
  }

  @Test
  void durationIsCountedWholeWhateverIsCut() throws Exception {
    byte[] message = message(service("cart", span(1, Span.SERVER, -50, TEN_MINUTES_MS)));
    List<Map<Short, Integer>> latencies = new ArrayList<>();
    accumulate(100, message)
        .forEach(
            (point, partial) -> {
              if (partial.completions() > 0) {
                latencies.add(partial.latency().toMap());
              }
            });
    // log2(600.05e9) * 64 = 2504.08 -> 2504
    assertThat(latencies).containsExactly(Map.of((short) 2504, 1));
  }

  @Property(tries = 200)
  void nothingIsLostAndNothingAppears(
      @ForAll @Size(max = 30) List<@LongRange(min = 0, max = 5_000_000_000L) Long> starts,
      @ForAll @LongRange(min = 0, max = 3_000_000_000L) long longest,
      @ForAll @IntRange(min = 1, max = 7) int step)
      throws Exception {
    long[] lengths = {10, 20, 25, 50, 100, 200, 500, 1000};
    long bucketMs = lengths[step];
    io.opentelemetry.proto.trace.v1.Span.Builder[] spans =
        new io.opentelemetry.proto.trace.v1.Span.Builder[starts.size()];
    long durations = 0;
    for (int i = 0; i < spans.length; i++) {
      long duration = (starts.get(i) * 31 + i) % (longest + 1);
      long start = MIDNIGHT_MS * MS + starts.get(i);
      spans[i] =
          span(i + 1, Span.SERVER, 0, 0)
              .setStartTimeUnixNano(start)
              .setEndTimeUnixNano(start + duration);
      durations += duration;
    }
    long[] sums = new long[4];
    accumulate(bucketMs, message(service("cart", spans)))
        .forEach(
            (point, partial) -> {
              sums[0] += partial.busyNs();
              sums[1] += partial.completions();
              sums[2] += partial.latency().total();
              sums[3] += partial.bucketMs() % bucketMs;
            });
    assertThat(sums).containsExactly(durations, spans.length, spans.length, 0);
  }

  @Test
  void shortenedSpanIsSpreadOverItsNewestHundredBucketsAndCompletesWhole() throws Exception {
    WindowAccumulator windows = new WindowAccumulator(new Spread(100, TEN_MINUTES_MS));
    new TraceRequestDecoder()
        .decode(
            message(service("cart", span(1, Span.SERVER, 0, 60_050))),
            span -> {
              span.shorten();
              outcomes.add(windows.accept(span));
            });
    long[] busyNs = new long[1];
    List<Long> buckets = new ArrayList<>();
    List<Map<Short, Integer>> latencies = new ArrayList<>();
    windows.forEach(
        (point, partial) -> {
          busyNs[0] += partial.busyNs();
          buckets.add(partial.bucketMs() - MIDNIGHT_MS);
          if (partial.completions() > 0) {
            latencies.add(partial.latency().toMap());
          }
        });
    assertThat(outcomes).containsExactly(Outcome.ACCEPTED_CUT);
    assertThat(busyNs[0]).isEqualTo(10_000 * MS);
    assertThat(buckets).hasSize(101).contains(50_000L, 60_000L);
    // log2(60.05e9) * 64 = 2291.76 -> 2291
    assertThat(latencies).containsExactly(Map.of((short) 2291, 1));
  }
}
