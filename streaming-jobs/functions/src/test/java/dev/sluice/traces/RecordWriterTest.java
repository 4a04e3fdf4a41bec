package dev.sluice.traces;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RecordWriterTest {
  private static final int HEAD = 1;

  private final RecordWriter out = new RecordWriter(1);

  @Test
  void numbersTakeSevenBitsAByteAndSmallOnesOfEitherSignOne() {
    for (long value : List.of(0L, 127L, 128L, 300L, -1L)) {
      out.number(value);
    }
    for (long value : List.of(-64L, 63L, 64L, Long.MIN_VALUE)) {
      out.signed(value);
    }
    // -1 and the least of all have 64 bits: ten bytes each.
    assertThat(out.size()).isEqualTo(HEAD + 1 + 1 + 2 + 2 + 10 + 1 + 1 + 2 + 10);
    assertThat(out.toByteArray())
        .startsWith(RecordWriter.FORMAT, 0, 127, (byte) 0x80, 1, (byte) 0xac, 2)
        .endsWith(0xff, 1);
    RecordReader in = new RecordReader(out.toByteArray());
    for (long value : List.of(0L, 127L, 128L, 300L, -1L)) {
      assertThat(in.number()).isEqualTo(value);
    }
    for (long value : List.of(-64L, 63L, 64L, Long.MIN_VALUE)) {
      assertThat(in.signed()).isEqualTo(value);
    }
    assertThat(in.hasMore()).isFalse();
  }

  @Test
  void aSpanTakesFewBytesAndItsNamesAreWrittenOnce() {
    long ns = 1_700_000_000_000_000_000L;
    long ms = 1_700_000_000_000L;
    TraceSpan root =
        new TraceSpan(1, 0, 2, false, false, ns, 1_000, "a", "", "", "op", "", "", ms, Place.NONE);
    TraceSpan child =
        new TraceSpan(
            2, 1, 3, true, true, ns + 50, 900, "a", "b", "", "op", "", "", ms + 3, Place.FIXED);
    out.spans(List.of(root));
    // Times as numbers of 64 and 42 bits: 9 and 6 bytes; 1,000 takes 2. Names: a 3, "" 2, op 4,
    // twice "" 1.
    int first = 1 + 8 + 1 + 9 + 2 + 6 + 3 + 2 + 4 + 1 + 1;
    assertThat(out.size()).isEqualTo(HEAD + first);
    out.spans(List.of(child));
    // 50 and 900 take 1 and 2, 3 ms 1; b 3, the other names 1.
    assertThat(out.size()).isEqualTo(HEAD + first + 1 + 8 + 1 + 8 + 1 + 2 + 1 + 1 + 3 + 1 + 1 + 1);
    RecordReader in = new RecordReader(out.toByteArray());
    assertThat(in.spans()).containsExactly(root);
    assertThat(in.spans()).containsExactly(child);
  }

  private static TraceSpan answeredBy(String callee) {
    return new TraceSpan(
        1, 0, 3, false, false, 0, 9, "a", "10.0.0.7", callee, "op", "", "", 0, Place.MOVABLE);
  }

  @Test
  void aCalleeTakesANameWhereThePeerMayChange() {
    out.spans(List.of(answeredBy("mail")));
    assertThat(new RecordReader(out.toByteArray()).spans()).containsExactly(answeredBy("mail"));
  }

  @Test
  void theFormatWithoutCalleesIsReadToo() {
    out.spans(List.of(answeredBy("")));
    byte[] written = out.toByteArray();
    // The callee is the last byte, the number of "".
    byte[] before = Arrays.copyOf(written, written.length - 1);
    before[0] = RecordWriter.WITHOUT_CALLEES;
    assertThat(new RecordReader(before).spans()).containsExactly(answeredBy(""));
  }

  @Test
  void anySpansComeBack() {
    Random random = new Random(3);
    List<TraceSpan> spans = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      int kind = random.nextInt(Span.CONSUMER + 1);
      boolean either = kind == Span.SERVER || kind == Span.CLIENT;
      int sidecar = either && random.nextBoolean() ? Place.SIDECAR : 0;
      String name = "née\uD83D\uDE00".repeat(random.nextInt(3)) + random.nextInt(500);
      spans.add(
          new TraceSpan(
              random.nextLong(),
              random.nextBoolean() ? 0 : random.nextLong(),
              kind,
              random.nextBoolean(),
              random.nextBoolean(),
              random.nextLong(),
              random.nextLong(),
              name,
              "",
              "",
              "operation of " + name,
              "h",
              name,
              random.nextLong(),
              (byte) (random.nextInt(4) | sidecar)));
    }
    assertThat(SpanBytes.decode(SpanBytes.encode(spans))).isEqualTo(spans);
  }
}
