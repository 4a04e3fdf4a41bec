package dev.sluice.accounting;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.sluice.otlp.Span;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MessageReaderTest {
  private static final long DAY_MS = 86_400_000;
  private static final long RECEIVED_MS = MIDNIGHT_MS + 1_000;

  /** Takes everything, and cuts spans longer than a minute. */
  private static final class Stage implements SpanStage {
    int spans;

    @Override
    public Outcome accept(Span span) {
      spans++;
      return span.durationNs() > 60_000 * MS ? Outcome.ACCEPTED_CUT : Outcome.ACCEPTED;
    }

    @Override
    public void clear() {
      spans = 0;
    }
  }

  private final Stage stage = new Stage();
  private final MessageReader reader =
      new MessageReader(new Validity(7 * DAY_MS, 10 * 60_000, 60_000), stage, SpanBounds.NONE);

  /** "outcome service" to {messages, spans, lag}. */
  private Map<String, List<Long>> counts() {
    Map<String, List<Long>> counts = new TreeMap<>();
    reader
        .counts()
        .forEach(
            (key, sums) ->
                counts.put(
                    key.outcome().label() + " " + key.service(),
                    List.of(sums.messages(), sums.spans(), sums.emitLagMs())));
    return counts;
  }

  private List<String> reasons() {
    return reader.deadLetters().stream().map(letter -> letter.reason().label()).toList();
  }

  @Test
  void goodSpansAreAcceptedWithTheirLag() {
    // ends 10 and 30 ms after midnight, received 1000 ms after: 990 + 970
    reader.read(
        message(service("cart", span(1, Span.SERVER, 0, 10), span(2, Span.INTERNAL, 0, 30))),
        RECEIVED_MS,
        false);
    assertThat(counts()).isEqualTo(Map.of("accepted cart", List.of(0L, 2L, 1960L)));
    assertThat(stage.spans).isEqualTo(2);
    assertThat(reader.deadLetters()).isEmpty();
  }

  @Test
  void everySpanHasOneOutcomeAndTheGoodOnesCount() {
    double day = DAY_MS;
    reader.read(
        message(
            service(
                "cart",
                span(1, Span.SERVER, 0, 10),
                span(2, Span.SERVER, 10, 9),
                span(3, Span.SERVER, -3650 * day, -3650 * day + 1),
                span(4, Span.SERVER, 3650 * day, 3650 * day + 1),
                span(5, Span.SERVER, 0, 0).setStartTimeUnixNano(0).setEndTimeUnixNano(0),
                span(6, Span.SERVER, 0, 1).setEndTimeUnixNano(-1),
                span(7, Span.SERVER, 0, 1).setTraceId(ByteString.copyFrom(new byte[8])),
                span(8, Span.SERVER, 0, 1).setSpanId(ByteString.EMPTY),
                span(9, Span.SERVER, 0, 1).setParentSpanId(id(1, 16)),
                span(10, Span.SERVER, 0, 1).setSpanId(ByteString.copyFrom(new byte[8])),
                span(11, Span.SERVER, -60_001, 0)),
            resource(List.of(attribute("host.name", "h")), span(12, Span.SERVER, 0, 1))),
        RECEIVED_MS,
        false);
    assertThat(counts())
        .isEqualTo(
            Map.of(
                "accepted cart", List.of(0L, 1L, 990L),
                "accepted_cut cart", List.of(0L, 1L, 1000L),
                "ends_before_start cart", List.of(0L, 1L, 0L),
                "clock_out_of_range cart", List.of(0L, 4L, 0L),
                "bad_id cart", List.of(0L, 4L, 0L),
                "missing_service ", List.of(0L, 1L, 0L)));
    assertThat(stage.spans).isEqualTo(2);
    assertThat(reasons())
        .containsExactly(
            "ends_before_start",
            "clock_out_of_range",
            "clock_out_of_range",
            "clock_out_of_range",
            "clock_out_of_range",
            "bad_id",
            "bad_id",
            "bad_id",
            "bad_id",
            "missing_service");
    DeadLetter first = reader.deadLetters().get(0);
    assertThat(first.service()).isEqualTo("cart");
    assertThat(first.traceId()).isEqualTo("00000000000000000000000000000001");
    assertThat(first.spanId()).isEqualTo("0000000000000002");
    assertThat(first.payload()).isNull();
    assertThat(first.detail())
        .isEqualTo(
            "start 1767225600010000000 ns, end 1767225600009000000 ns, received 1767225601000 ms");
  }

  @Test
  void aTombstoneCountsAsTooLargeWhateverElseIsWrongWithIt() {
    var size = intAttribute("sluice.dropped.bytes", 6_000_123);
    reader.read(
        message(
            service(
                "cart",
                span(1, Span.SERVER, 0, 10),
                span(2, Span.SERVER, 0, 10).addAttributes(size),
                span(3, Span.SERVER, 10, 9).setSpanId(ByteString.EMPTY).addAttributes(size)),
            resource(List.of(), span(4, Span.SERVER, 0, 1).addAttributes(size)),
            // Of a resource, or as text, it is some attribute of the application.
            resource(
                List.of(attribute("service.name", "shop"), size),
                span(5, Span.SERVER, 0, 10)
                    .addAttributes(attribute("sluice.dropped.bytes", "6000123")))),
        RECEIVED_MS,
        false);
    assertThat(counts())
        .isEqualTo(
            Map.of(
                "accepted cart", List.of(0L, 1L, 990L),
                "accepted shop", List.of(0L, 1L, 990L),
                "too_large cart", List.of(0L, 2L, 0L),
                "too_large ", List.of(0L, 1L, 0L)));
    assertThat(stage.spans).isEqualTo(2);
    DeadLetter first = reader.deadLetters().get(0);
    assertThat(first.reason().label()).isEqualTo("too_large");
    assertThat(first.service()).isEqualTo("cart");
    assertThat(first.traceId()).isEqualTo("00000000000000000000000000000001");
    assertThat(first.spanId()).isEqualTo("0000000000000002");
    assertThat(first.detail())
        .isEqualTo("6000123 bytes, more than a message of the topic can hold");
  }

  @Test
  void agesAtTheBoundsAreAccepted() {
    Validity validity = new Validity(1_000, 500, 1_000);
    MessageReader bounded = new MessageReader(validity, stage, SpanBounds.NONE);
    bounded.read(
        message(
            service(
                "cart",
                span(1, Span.SERVER, 0, 1), // exactly 1000 ms before
                span(2, Span.SERVER, 1_500, 1_500), // exactly 500 ms ahead
                span(3, Span.SERVER, -1, 1),
                span(4, Span.SERVER, 1_500, 1_501))),
        RECEIVED_MS,
        false);
    assertThat(stage.spans).isEqualTo(2);
    assertThat(bounded.deadLetters()).hasSize(2);
  }

  @Test
  void malformedMessageCountsOnceAndLeavesNothingBehind() {
    byte[] good = message(service("cart", span(1, Span.SERVER, 0, 10), span(2, Span.SERVER, 0, 1)));
    byte[] cut = Arrays.copyOf(good, good.length - 3);
    reader.read(cut, RECEIVED_MS, false);
    assertThat(stage.spans).isZero();
    assertThat(counts()).isEqualTo(Map.of("malformed_message ", List.of(1L, 0L, 0L)));
    assertThat(reader.deadLetters()).hasSize(1);
    assertThat(reader.deadLetters().get(0).payload()).isEqualTo(cut);
    assertThat(reader.deadLetters().get(0).detail()).contains("byte");

    reader.read(good, RECEIVED_MS, false);
    assertThat(stage.spans).isEqualTo(2);
    assertThat(reasons()).isEmpty();
  }

  @Test
  void ofARepeatedMessageEverySpanIsCountedAndNoneIsUsed() {
    byte[] message =
        message(
            service("cart", span(1, Span.SERVER, 0, 10), span(2, Span.SERVER, 10, 9)),
            resource(List.of(), span(3, Span.SERVER, 0, 1)));
    reader.read(message, RECEIVED_MS, true);
    assertThat(counts())
        .isEqualTo(
            Map.of(
                "repeated_message cart", List.of(0L, 2L, 0L),
                "repeated_message ", List.of(0L, 1L, 0L)));
    assertThat(stage.spans).isZero();
    assertThat(reader.deadLetters()).isEmpty();
  }

  @Test
  void malformedMessageStaysMalformedWhenItIsRepeated() {
    byte[] good = message(service("cart", span(1, Span.SERVER, 0, 10)));
    reader.read(Arrays.copyOf(good, good.length - 3), RECEIVED_MS, true);
    assertThat(counts()).isEqualTo(Map.of("malformed_message ", List.of(1L, 0L, 0L)));
    assertThat(reasons()).containsExactly("malformed_message");
  }

  @Test
  void spansThatEndedLongerAgoThanTheLatenessAreUsedAndCountedApart() {
    // Lateness is a minute; the third is cut as well, which is the graver.
    reader.read(
        message(
            service(
                "cart",
                span(1, Span.SERVER, 0, 1_000),
                span(2, Span.SERVER, 0, 999.999_999),
                span(3, Span.SERVER, -70_000, 0))),
        MIDNIGHT_MS + 61_000,
        false);
    assertThat(counts())
        .isEqualTo(
            Map.of(
                "accepted cart", List.of(0L, 1L, 60_000L),
                "accepted_late cart", List.of(0L, 1L, 60_001L),
                "accepted_cut cart", List.of(0L, 1L, 61_000L)));
    assertThat(stage.spans).isEqualTo(3);
  }

  @Test
  void recordWithoutValueIsMalformed() {
    reader.read(null, RECEIVED_MS, false);
    assertThat(reasons()).containsExactly("malformed_message");
  }

  @Test
  void malformedMessageThatDoesNotFitALetterIsCut() {
    byte[] huge = new byte[10_000_000];
    huge[0] = 'x';
    reader.read(huge, RECEIVED_MS, false);
    DeadLetter letter = reader.deadLetters().get(0);
    assertThat(letter.payload()).isEqualTo(Arrays.copyOf(huge, 4_194_304));
    assertThat(letter.detail()).endsWith("payload is the first 4194304 of 10000000 bytes");
  }

  @Test
  void ofEachReasonTenLettersAreKeptAndTheLastSaysHowManyMoreThereWere() {
    var request = ExportTraceServiceRequest.newBuilder();
    for (int n = 1; n <= 25; n++) {
      request.addResourceSpans(service("cart", span(n, Span.SERVER, 0, 1).clear()));
      if (n <= 11) {
        request.addResourceSpans(service("cart", span(n, Span.SERVER, 10, 9)));
      }
      if (n <= 10) {
        request.addResourceSpans(resource(List.of(), span(n, Span.SERVER, 0, 1)));
      }
    }
    reader.read(request.build().toByteArray(), RECEIVED_MS, false);
    assertThat(counts())
        .isEqualTo(
            Map.of(
                "bad_id cart", List.of(0L, 25L, 0L),
                "ends_before_start cart", List.of(0L, 11L, 0L),
                "missing_service ", List.of(0L, 10L, 0L)));
    // In the order of the spans, ten times each.
    assertThat(reasons())
        .isEqualTo(
            Collections.nCopies(10, List.of("bad_id", "ends_before_start", "missing_service"))
                .stream()
                .flatMap(List::stream)
                .toList());
    List<DeadLetter> letters = reader.deadLetters();
    assertThat(letters)
        .extracting(letter -> letter.detail().endsWith("more in this message"))
        .containsExactlyElementsOf(
            IntStream.range(0, 30).mapToObj(n -> n == 27 || n == 28).toList());
    assertThat(letters.get(27).detail()).endsWith("; 15 more in this message");
    assertThat(letters.get(28).detail()).endsWith("; 1 more in this message");
    assertThat(letters.get(28).spanId()).isEqualTo("000000000000000a");

    reader.read(message(service("cart", span(1, Span.SERVER, 10, 9))), RECEIVED_MS, false);
    assertThat(reasons()).containsExactly("ends_before_start");
    assertThat(reader.deadLetters().get(0).detail()).endsWith(RECEIVED_MS + " ms");
  }

  @Test
  void longTextsOfADeadLetterAreCut() {
    reader.read(
        message(
            service(
                "s".repeat(5000),
                span(1, Span.SERVER, 0, 1).setTraceId(ByteString.copyFrom(new byte[5000])))),
        RECEIVED_MS,
        false);
    DeadLetter letter = reader.deadLetters().get(0);
    assertThat(letter.service()).hasSize(256);
    assertThat(letter.traceId()).hasSize(128);
  }

  @Test
  void reclassifiedSpansLeaveTheSumOverOutcomesAsItWas() {
    OutcomeCounts counts = new OutcomeCounts();
    counts.span(Outcome.ACCEPTED, "cart", 40);
    counts.span(Outcome.ACCEPTED, "cart", 60);
    counts.reclassify("cart", Outcome.ACCEPTED, Outcome.DUPLICATE_SPAN, 60);
    Map<String, List<Long>> sums = new TreeMap<>();
    counts.forEach(
        (key, sum) ->
            sums.put(
                key.outcome().label(), List.of(sum.spans(), sum.emitLagMs(), sum.contributions())));
    assertThat(sums)
        .isEqualTo(Map.of("accepted", List.of(1L, 40L, 3L), "duplicate_span", List.of(1L, 0L, 1L)));
  }

  @Test
  void spansUnderTheNameOfTheRestAreCountedApartAndLettersKeepTheirNames() {
    SpanBounds bounds =
        new SpanBounds() {
          @Override
          public boolean rename(Span span) {
            boolean more = !span.service().equals("cart");
            if (more) {
              span.rename("(more)", span.instance(), span.host(), span.peer());
            }
            return more;
          }

          @Override
          public void shorten(Span span) {}
        };
    MessageReader bounded =
        new MessageReader(new Validity(7 * DAY_MS, 10 * 60_000, 60_000), stage, bounds);
    bounded.read(
        message(
            service("cart", span(1, Span.SERVER, 0, 10)),
            service(
                "flood", span(2, Span.SERVER, 0, 10), span(0, Span.SERVER, 0, 1).clearSpanId())),
        RECEIVED_MS,
        false);
    Map<String, Long> spans = new TreeMap<>();
    bounded
        .counts()
        .forEach(
            (key, sums) -> spans.put(key.outcome().label() + " " + key.service(), sums.spans()));
    assertThat(spans)
        .isEqualTo(Map.of("accepted cart", 1L, "accepted_more (more)", 1L, "bad_id (more)", 1L));
    assertThat(bounded.deadLetters()).extracting(DeadLetter::service).containsExactly("flood");
  }
}
