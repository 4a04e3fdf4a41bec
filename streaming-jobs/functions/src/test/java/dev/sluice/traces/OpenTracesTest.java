package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenTracesTest {
  private static final int MANY = 20_000;

  private final List<String> closed = new ArrayList<>();

  private OpenTraces traces(int maxOpenSpans) {
    return new OpenTraces(
        new OpenTraces.Bounds(5_000, 60_000, 100_000, 100, maxOpenSpans),
        (traceId, session, cause, late) ->
            closed.add(
                (traceId[15] & 0xFF)
                    + " "
                    + cause.label()
                    + " "
                    + Trace.assemble(session.fragments(), 100).spans().size()
                    + (late ? " late" : "")));
  }

  /** A span of a trace, which the broker took so many ms after midnight. */
  private static boolean add(OpenTraces traces, long trace, long span, long afterMs)
      throws Exception {
    FragmentAccumulator accumulator = new FragmentAccumulator();
    new TraceRequestDecoder()
        .decode(
            message(service("a", span(span, Span.SERVER, 0, 1).setTraceId(id(trace, 16)))),
            accumulator::accept);
    boolean[] kept = new boolean[1];
    accumulator.forEach(
        (traceId, fragment) ->
            kept[0] = traces.add(traceId, fragment.encode(MIDNIGHT_MS + afterMs), fragment.size()));
    return kept[0];
  }

  @Test
  void whatIsRestoredGoesOnAsIfNothingHadHappened() throws Exception {
    OpenTraces before = traces(1_000);
    add(before, 1, 1, 0);
    before.advance(MIDNIGHT_MS + 6_000);
    add(before, 2, 1, 6_000);
    add(before, 3, 1, 6_500);

    OpenTraces after = traces(1_000);
    before.snapshot().forEach(chunk -> after.restore(chunk, id -> true));
    assertThat(after.spans()).isEqualTo(2);
    add(after, 1, 2, 7_000);
    add(after, 2, 2, 8_000);
    after.advance(MIDNIGHT_MS + 20_000);
    assertThat(closed)
        .containsExactlyInAnyOrder(
            "1 closed_quiet 1", "3 closed_quiet 1", "1 closed_quiet 1 late", "2 closed_quiet 2");
    assertThat(after.spans()).isZero();
  }

  @Test
  void eachTaskTakesItsOwnTracesOfASnapshotWhateverTheParallelism() throws Exception {
    OpenTraces before = traces(2 * MANY);
    for (int i = 1; i <= MANY; i++) {
      add(before, i, 1, i % 5);
    }
    List<byte[]> chunks = before.snapshot();
    assertThat(chunks).hasSizeGreaterThan(1);
    int spans = 0;
    for (int task = 0; task < 3; task++) {
      OpenTraces one = traces(2 * MANY);
      int mine = task;
      chunks.forEach(chunk -> one.restore(chunk, id -> Math.floorMod(id[15], 3) == mine));
      assertThat(one.spans()).isPositive();
      spans += one.spans();
    }
    assertThat(spans).isEqualTo(MANY);
  }

  @Test
  void ofTracesBeyondTheRoomThoseThatAreDueFirstAreClosed() throws Exception {
    OpenTraces traces = traces(3);
    add(traces, 1, 1, 3_000);
    add(traces, 2, 1, 0);
    add(traces, 3, 1, 1_000);
    assertThat(closed).isEmpty();
    add(traces, 1, 2, 3_001);
    assertThat(closed).containsExactly("2 closed_early 1");
    assertThat(traces.spans()).isEqualTo(3);
  }

  @Test
  void oneTraceThatIsLargerThanTheRoomIsClosedToo() throws Exception {
    OpenTraces traces = traces(2);
    for (int i = 1; i <= 7; i++) {
      assertThat(add(traces, 1, i, i)).isTrue();
    }
    traces.advance(Long.MAX_VALUE);
    assertThat(closed)
        .containsExactly("1 closed_early 3", "1 closed_early 3 late", "1 closed_quiet 1 late");
  }

  @Test
  void spansThatATraceHasTooManyAreNotKept() throws Exception {
    OpenTraces traces = traces(1_000);
    for (int i = 1; i <= 100; i++) {
      assertThat(add(traces, 1, i, i)).isTrue();
    }
    assertThat(add(traces, 1, 101, 101)).isFalse();
    assertThat(traces.spans()).isEqualTo(100);
  }

  @Test
  void anUnknownRecordIsRefused() {
    assertThatThrownBy(
            () -> {
              byte[] chunk = new byte[17];
              chunk[0] = 9;
              traces(10).restore(chunk, id -> true);
            })
        .hasMessage("restore open traces: unknown record 9");
  }
}
