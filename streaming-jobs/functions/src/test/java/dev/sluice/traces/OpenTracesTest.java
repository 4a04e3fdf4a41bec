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
  private static final int MANY = 40_000;

  private final List<String> closed = new ArrayList<>();

  private final List<String> previews = new ArrayList<>();

  private final List<String> leftOut = new ArrayList<>();

  private OpenTraces traces(int maxOpenSpans) {
    return traces(maxOpenSpans, 1 << 30);
  }

  private OpenTraces traces(int maxOpenSpans, long maxHeapBytes) {
    OpenTraces.Closing closing =
        new OpenTraces.Closing() {
          @Override
          public void close(
              byte[] traceId, Session session, Trace trace, Cause cause, boolean late) {
            String spans = " " + trace.size() + (late ? " late" : "");
            closed.add((traceId[15] & 0xFF) + " " + cause.label() + spans);
          }

          @Override
          public void preview(Trace trace, int times) {
            previews.add((times > 0 ? "+" : "-") + trace.size());
          }

          @Override
          public void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess) {
            duplicates.forEach(span -> leftOut.add("duplicate"));
            excess.forEach(span -> leftOut.add("excess"));
          }
        };
    return new OpenTraces(
        new OpenTraces.Bounds(5_000, 1_000, 60_000, 100_000, 100, maxOpenSpans, maxHeapBytes),
        closing);
  }

  /** A span of a trace, which the broker took so many ms after midnight. */
  private static void add(OpenTraces traces, long trace, long span, long afterMs) throws Exception {
    long recordMs = MIDNIGHT_MS + afterMs;
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000).at(recordMs);
    new TraceRequestDecoder()
        .decode(
            message(service("a", span(span, Span.SERVER, 0, 1).setTraceId(id(trace, 16)))),
            accumulator::accept);
    accumulator.forEach(
        (traceId, spans) -> traces.add(new TraceFragment(traceId, recordMs, 0, afterMs, spans)));
  }

  @Test
  void restoredTracesGoOnAsIfNothingHadHappened() throws Exception {
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
  void nothingIsClosedWhileAPartOfItWaitsInASlotThatHasNotPassed() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 0);
    add(traces, 1, 2, 120);
    traces.advance(MIDNIGHT_MS + 200);
    // Before 5,120, when the trace is due, and in a slot that ends at 5,150.
    add(traces, 1, 3, 5_110);
    traces.advance(MIDNIGHT_MS + 5_125);
    assertThat(closed).isEmpty();
    traces.advance(MIDNIGHT_MS + 20_000);
    assertThat(closed).containsExactly("1 closed_quiet 3");
  }

  @Test
  void afterASecondWithoutASpanThereIsAPreviewOfWhatIsNew() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 0);
    add(traces, 1, 2, 500);
    traces.advance(MIDNIGHT_MS + 1_450);
    assertThat(previews).isEmpty();
    traces.advance(MIDNIGHT_MS + 1_500);
    assertThat(previews).containsExactly("+2");
    traces.advance(MIDNIGHT_MS + 4_000);
    assertThat(previews).hasSize(1);
    add(traces, 1, 3, 4_000);

    OpenTraces restored = traces(1_000);
    traces.snapshot().forEach(chunk -> restored.restore(chunk, id -> true));
    restored.advance(MIDNIGHT_MS + 5_000);
    assertThat(previews).containsExactly("+2", "-2", "+3");
    restored.advance(MIDNIGHT_MS + 20_000);
    assertThat(previews).containsExactly("+2", "-2", "+3", "-3");
    assertThat(closed).containsExactly("1 closed_quiet 3");
  }

  @Test
  void tracesOfASnapshotOfBeforePreviewsAreRead() throws Exception {
    RecordWriter before = new RecordWriter(100);
    before.octet(1); // an open trace
    before.id(new TraceId(0, 1L << 56));
    before.time(MIDNIGHT_MS);
    before.number(500);
    before.octet(1); // late
    before.signed(Long.MIN_VALUE);
    before.spans(List.of());
    OpenTraces traces = traces(1_000);
    traces.restore(before.toByteArray(), id -> true);
    add(traces, 1, 1, 600);
    traces.advance(MIDNIGHT_MS + 2_000);
    traces.advance(MIDNIGHT_MS + 20_000);
    assertThat(previews).containsExactly("+1", "-1");
    assertThat(closed).containsExactly("1 closed_quiet 1 late");
  }

  @Test
  void ofATraceThatIsClosedThereIsNoPreview() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 0);
    traces.advance(MIDNIGHT_MS + 20_000);
    assertThat(closed).hasSize(1);
    assertThat(previews).isEmpty();
  }

  @Test
  void aTraceIdInASlotThatHasNotPassedIsStillLate() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 0);
    traces.advance(MIDNIGHT_MS + 5_050);
    add(traces, 1, 2, 5_120);
    traces.advance(MIDNIGHT_MS + 10_150);
    // Closed at 10,120 again: late before 110,120, as this is, in a slot that ends at 110,150.
    add(traces, 1, 3, 110_110);
    traces.advance(MIDNIGHT_MS + 110_125);
    traces.advance(MIDNIGHT_MS + 120_000);
    assertThat(closed)
        .containsExactly("1 closed_quiet 1", "1 closed_quiet 1 late", "1 closed_quiet 1 late");
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
      OpenTraces restored = traces(2 * MANY);
      int mine = task;
      chunks.forEach(chunk -> restored.restore(chunk, id -> Math.floorMod(id[15], 3) == mine));
      assertThat(restored.spans()).isPositive();
      spans += restored.spans();
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

  // The span of add() takes 96, its operation "work" 48 + 8: 152. A fragment of it takes 128 + 152
  // = 280 as it waits, and a trace of it 248 + 152 = 400. Of 1,800 bytes a third is for closed ids,
  // 600 / 112 = 5 of them, and 1,200 for three such traces.

  @Test
  void ofTracesBeyondTheHeapThoseThatAreDueFirstAreClosed() throws Exception {
    OpenTraces traces = traces(1_000, 1_800);
    add(traces, 1, 1, 0);
    assertThat(traces.heapBytes()).isEqualTo(280);
    add(traces, 2, 1, 1_000);
    add(traces, 3, 1, 2_000);
    traces.advance(MIDNIGHT_MS + 3_000);
    assertThat(traces.heapBytes()).isEqualTo(3 * 400);
    assertThat(closed).isEmpty();
    add(traces, 4, 1, 3_000);
    assertThat(closed).containsExactly("1 closed_early 1");
    assertThat(traces.heapBytes()).isEqualTo(2 * 400 + 280);
    traces.advance(MIDNIGHT_MS + 20_000);
    assertThat(closed).hasSize(4).filteredOn(line -> line.contains("early")).hasSize(1);
    assertThat(traces.heapBytes()).isZero();
  }

  @Test
  void fragmentsThatFitAsTheyWaitMayBeTooMuchAsTraces() throws Exception {
    OpenTraces traces = traces(1_000, 1_800);
    for (int i = 1; i <= 4; i++) {
      add(traces, i, 1, 100 * i);
    }
    assertThat(closed).isEmpty();
    // 400 + 3 x 280 = 1,240 are too much; then 400 + 2 x 280, 2 x 400 + 280 and 3 x 400 are not.
    traces.advance(MIDNIGHT_MS + 1_000);
    assertThat(closed).containsExactly("1 closed_early 1");
    assertThat(traces.heapBytes()).isEqualTo(3 * 400);
  }

  @Test
  void theHeapThatARestoredTraceTakesIsKnown() throws Exception {
    OpenTraces before = traces(1_000);
    add(before, 1, 1, 0);
    before.advance(MIDNIGHT_MS + 1_000);
    add(before, 2, 1, 1_000);
    OpenTraces after = traces(1_000);
    before.snapshot().forEach(chunk -> after.restore(chunk, id -> true));
    assertThat(after.heapBytes()).isEqualTo(400 + 280).isEqualTo(before.heapBytes());
  }

  @Test
  void ofClosedIdsBeyondTheHeapThoseThatWereClosedFirstAreForgotten() throws Exception {
    OpenTraces traces = traces(1_000, 1_800);
    for (int i = 1; i <= 6; i++) {
      add(traces, i, 1, 6_000 * i);
      traces.advance(MIDNIGHT_MS + 6_000 * i + 5_100);
    }
    closed.clear();
    add(traces, 1, 2, 46_000);
    add(traces, 2, 2, 46_001);
    traces.advance(MIDNIGHT_MS + 60_000);
    assertThat(closed).containsExactlyInAnyOrder("1 closed_quiet 1", "2 closed_quiet 1 late");
  }

  @Test
  void oneTraceThatIsLargerThanTheRoomIsClosedToo() throws Exception {
    OpenTraces traces = traces(2);
    for (int i = 1; i <= 7; i++) {
      add(traces, 1, i, i);
    }
    traces.advance(Long.MAX_VALUE);
    assertThat(closed)
        .containsExactly("1 closed_early 3", "1 closed_early 3 late", "1 closed_quiet 1 late");
  }

  @Test
  void spansThatATraceHasTooManyAreNotKeptButExtendIt() throws Exception {
    OpenTraces traces = traces(1_000);
    for (int i = 1; i <= 100; i++) {
      add(traces, 1, i, i);
    }
    add(traces, 1, 100, 150);
    add(traces, 1, 101, 4_000);
    traces.advance(MIDNIGHT_MS + 4_050);
    assertThat(leftOut).containsExactly("duplicate", "excess");
    assertThat(traces.spans()).isEqualTo(100);
    // It is known to be full now: what is to come before it is closed need not wait.
    add(traces, 1, 102, 8_000);
    add(traces, 1, 102, 13_000);
    assertThat(leftOut).hasSize(3);
    assertThat(traces.spans()).isEqualTo(101);
    traces.advance(MIDNIGHT_MS + 30_000);
    assertThat(closed).containsExactly("1 closed_quiet 100", "1 closed_quiet 1 late");
  }

  @Test
  void anUnknownRecordIsRefused() {
    assertThatThrownBy(
            () -> {
              byte[] chunk = new byte[18];
              chunk[0] = RecordWriter.FORMAT;
              chunk[1] = 9;
              traces(10).restore(chunk, id -> true);
            })
        .hasMessage("restore open traces: unknown record 9");
    assertThatThrownBy(() -> traces(10).restore(new byte[17], id -> true))
        .hasMessage("read traces: format 0, expected 2");
  }

  @Test
  void afterTheLogsClockWasSetBackThisMachinesClockClosesTraces() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 3_600_000);
    traces.advance(MIDNIGHT_MS + 3_601_000);
    // The watermark stands for an hour from here on.
    add(traces, 2, 1, 2_000);
    traces.elapse(1_000);
    add(traces, 2, 2, 2_500);
    traces.elapse(1_000); // it is read at 1,000, so nothing is closed before 6,000
    traces.elapse(3_900);
    assertThat(closed).containsExactly("1 closed_quiet 1");
    for (int n = 0; n < 10; n++) {
      traces.elapse(20); // ten of them are four slots of the agenda
    }
    assertThat(closed).containsExactly("1 closed_quiet 1", "2 closed_quiet 2");
    add(traces, 1, 2, 3_000);
    traces.elapse(1_000);
    assertThat(closed).hasSize(2);
    traces.elapse(4_100);
    assertThat(closed).endsWith("1 closed_quiet 1 late");
    assertThat(traces.spans()).isZero();
  }

  @Test
  void aFragmentFromBeforeTheStepIsNoPartOfATraceThatIsOpen() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 3_600_000);
    traces.advance(MIDNIGHT_MS + 3_600_100);
    add(traces, 1, 2, 1_000);
    traces.elapse(100);
    assertThat(closed).containsExactly("1 closed_quiet 1");
  }

  @Test
  void timeThatElapsesClosesNothingWhileTheLogGoesOn() throws Exception {
    OpenTraces traces = traces(1_000);
    add(traces, 1, 1, 0);
    traces.advance(MIDNIGHT_MS + 4_000);
    add(traces, 2, 1, 0); // behind the watermark, and by no more than the quiet time
    traces.elapse(100_000);
    assertThat(closed).isEmpty();
  }
}
