package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The estimate beside what the heap holds more, after a collection: not less, nor half more. The
 * process has other things in its heap, which may grow meanwhile by a twentieth of it.
 */
class HeapBytesTest {
  private static final int MANY = 200_000;
  private static final OpenTraces.Closing IGNORED =
      new OpenTraces.Closing() {
        @Override
        public void close(
            byte[] traceId, Session session, Trace trace, Cause cause, boolean late) {}

        @Override
        public void preview(Trace trace, int times) {}

        @Override
        public void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess) {}
      };

  /** The name of "op000001" is its own: each span's is. */
  private static final long SPAN_BYTES = 96 + 48 + 2 * 8;

  /** A fragment of one span of this id. */
  private static List<TraceSpan> fragment(long spanId) {
    String operation = "op%06d".formatted(spanId);
    List<TraceSpan> spans = new ArrayList<>(1);
    spans.add(
        new TraceSpan(
            spanId,
            0,
            2,
            false,
            false,
            0,
            1,
            "a",
            "",
            "",
            operation,
            "",
            "",
            MIDNIGHT_MS,
            Place.NONE));
    return spans;
  }

  private static long used() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static void check(long estimated, long measured) {
    assertThat(measured).isBetween(estimated * 2 / 3, estimated * 21 / 20);
  }

  @Test
  void ofTracesThatWaitAndThatAreOpen() {
    long before = used();
    OpenTraces traces =
        new OpenTraces(
            new OpenTraces.Bounds(5_000, 1_000, 60_000, 100_000, 100, MANY, 1L << 40), IGNORED);
    for (int i = 1; i <= MANY; i++) {
      traces.add(
          new TraceFragment(new TraceId(i, 31L * i), MIDNIGHT_MS + i % 1_000, 0, i, fragment(i)));
    }
    assertThat(traces.heapBytes()).isEqualTo(MANY * (128 + SPAN_BYTES));
    check(traces.heapBytes(), used() - before);

    traces.advance(MIDNIGHT_MS + 2_000);
    assertThat(traces.heapBytes()).isEqualTo(MANY * (248 + SPAN_BYTES));
    check(traces.heapBytes(), used() - before);
    Reference.reachabilityFence(traces);
  }

  @Test
  void ofClosedIds() {
    long before = used();
    ClosedIds closed = new ClosedIds(100_000, MANY);
    for (int i = 1; i <= MANY; i++) {
      closed.add(new TraceId(i, 31L * i), MIDNIGHT_MS + i % 1_000, MIDNIGHT_MS);
    }
    check(MANY * 112L, used() - before);
    Reference.reachabilityFence(closed);
  }

  @Test
  void ofATraceThatIsFull() {
    long before = used();
    Session session =
        new Session(new OpenTraces.Bounds(5, 0, 12, 0, MANY, MANY, 1L << 40), MIDNIGHT_MS);
    for (int i = 1; i <= MANY; i++) {
      session.add(MIDNIGHT_MS, fragment(i));
    }
    long roomy = session.heapBytes();
    assertThat(roomy).isEqualTo(248 + MANY * SPAN_BYTES);
    check(roomy, used() - before);
    session.add(MIDNIGHT_MS, fragment(MANY + 1));
    assertThat(session.heapBytes()).isEqualTo(roomy + MANY * 72L);
    check(session.heapBytes(), used() - before);
    Reference.reachabilityFence(session);
  }
}
