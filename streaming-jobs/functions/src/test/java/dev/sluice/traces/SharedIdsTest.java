package dev.sluice.traces;

import static dev.sluice.otlp.Span.CLIENT;
import static dev.sluice.otlp.Span.INTERNAL;
import static dev.sluice.otlp.Span.SERVER;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SharedIdsTest {
  private static final int MANY = 1_000;

  private static TraceSpan span(long id, long parent, int kind, String service) {
    return new TraceSpan(
        id, parent, kind, false, false, id, 9, service, "", "", "op", "", "", 0, Place.NONE);
  }

  /** front calls cart by the shared id 2, and cart a database. */
  private static List<TraceSpan> pair() {
    return List.of(
        span(1, 0, SERVER, "front"),
        span(2, 1, CLIENT, "front"),
        span(2, 1, SERVER, "cart"),
        span(3, 2, CLIENT, "cart"));
  }

  /** The same with ids apart. */
  private static List<TraceSpan> apart() {
    long server = SharedIds.derived(2);
    return List.of(
        span(1, 0, SERVER, "front"),
        span(2, 1, CLIENT, "front"),
        new TraceSpan(
            server, 2, SERVER, false, false, 2, 9, "cart", "", "", "op", "", "", 0, Place.NONE),
        span(3, server, CLIENT, "cart"));
  }

  @Test
  void serverSpanBecomesChildOfItsClientSpanWithItsChildrenBelow() {
    assertThat(SharedIds.apart(pair())).isEqualTo(apart());
    List<TraceSpan> lateCaller = new ArrayList<>(pair());
    Collections.reverse(lateCaller);
    assertThat(SharedIds.apart(lateCaller)).containsExactlyInAnyOrderElementsOf(apart());
  }

  @Test
  void derivedIdIsThatOfSplitMix64() {
    // The first two numbers of the generator with seed 0 (the reference in Java's
    // SplittableRandom).
    assertThat(SharedIds.derived(0)).isEqualTo(Long.reverseBytes(0xE220_A839_7B1D_CDAFL));
    assertThat(SharedIds.derived(Long.reverseBytes(0x9E37_79B9_7F4A_7C15L)))
        .isEqualTo(Long.reverseBytes(0x6E78_9E6A_A1B9_65F4L));
  }

  @Test
  void idThatWasSentIsKnownOfEverySpan() {
    assertThat(SharedIds.apart(pair())).extracting(SharedIds::sent).containsExactly(1L, 2L, 2L, 3L);
  }

  @Test
  void childOfTheCallerStaysBelowItsClientSpanAndThatOfAThirdGoesBelowTheServerSpan() {
    List<TraceSpan> spans = new ArrayList<>(pair());
    spans.add(span(4, 2, INTERNAL, "front"));
    spans.add(span(5, 2, SERVER, "stock"));
    List<TraceSpan> apart = SharedIds.apart(spans);
    assertThat(apart.get(4).parentId()).isEqualTo(2);
    assertThat(apart.get(5).parentId()).isEqualTo(SharedIds.derived(2));
  }

  @Test
  void ofServiceThatCallsItselfChildrenHangBelowTheServerSpan() {
    List<TraceSpan> apart =
        SharedIds.apart(
            List.of(
                span(2, 0, CLIENT, "cart"),
                span(2, 0, SERVER, "cart"),
                span(3, 2, CLIENT, "cart")));
    assertThat(apart.get(2).parentId()).isEqualTo(SharedIds.derived(2));
  }

  @Test
  void idOfOneSideAloneStays() {
    List<TraceSpan> server = List.of(span(2, 1, SERVER, "cart"), span(3, 2, CLIENT, "cart"));
    assertThat(SharedIds.apart(server)).isSameAs(server);
    List<TraceSpan> repeated = List.of(span(2, 1, SERVER, "cart"), span(2, 1, INTERNAL, "cart"));
    assertThat(SharedIds.apart(repeated)).isEqualTo(repeated);
  }

  @Test
  void pairIsNoRepeatAndRepeatsOfEitherSideAreLeftOut() {
    List<TraceSpan> spans = new ArrayList<>(pair());
    spans.addAll(pair());
    Trace trace = Trace.assemble(spans, MANY);
    assertThat(trace.spans()).containsExactlyElementsOf(apart());
    assertThat(trace.duplicates()).containsExactlyElementsOf(pair());
    int first = trace.numberOf(trace.duplicates().get(1));
    assertThat(trace.endOfChildren(first) - trace.firstChild(first)).isEqualTo(1);
    assertThat(trace.span(trace.child(trace.firstChild(first))).service())
        .as("a repeated CLIENT span moves to its callee as the first does")
        .isEqualTo("cart");
  }

  @Test
  void bothSidesOfAPairTakeRoom() {
    Trace trace = Trace.assemble(pair(), 3);
    assertThat(trace.spans()).hasSize(3);
    assertThat(trace.excess()).extracting(TraceSpan::spanId).containsExactly(3L);
  }

  @Test
  void sessionThatIsFullKnowsARepeatFromAPair() {
    Session session = new Session(new OpenTraces.Bounds(5, 0, 12, 0, 2, 100, 1 << 20), 0);
    session.add(0, pair().subList(0, 2));
    assertThat(session.add(1, pair().subList(1, 2))).isFalse();
    assertThat(session.has(pair().get(1))).isTrue();
    assertThat(session.has(pair().get(2))).isFalse();
  }

  /** Chains and fans of calls, each by a CLIENT and perhaps a SERVER span, sent either way. */
  @Property(tries = 500)
  void tracesWithSharedIdsAreTakenForThoseWithIdsApart(@ForAll long seed) {
    Random random = new Random(seed);
    List<TraceSpan> shared = new ArrayList<>();
    List<TraceSpan> apart = new ArrayList<>();
    List<long[]> entries = new ArrayList<>(); // service; id as it is sent; id apart
    entries.add(new long[] {0, 1, 1});
    shared.add(span(1, 0, SERVER, "s0"));
    apart.add(span(1, 0, SERVER, "s0"));
    for (long id = 2; id < 2 + random.nextInt(20); id++) {
      long[] above = entries.get(random.nextInt(entries.size()));
      String service = "s" + above[0];
      shared.add(span(id, above[1], CLIENT, service));
      apart.add(span(id, above[2], CLIENT, service));
      if (random.nextInt(4) > 0) {
        long callee = random.nextInt(4);
        TraceSpan server = span(id, above[1], SERVER, "s" + callee);
        shared.add(server);
        apart.add(server.with(SharedIds.derived(id), id));
        entries.add(new long[] {callee, id, SharedIds.derived(id)});
      }
    }
    Collections.shuffle(shared, new Random(seed));
    Collections.shuffle(apart, new Random(seed));
    assertThat(SharedIds.apart(shared)).isEqualTo(apart);
    assertThat(Trace.assemble(shared, MANY).spans())
        .containsExactlyElementsOf(Trace.assemble(apart, MANY).spans());
    assertThat(SharedIds.apart(apart)).isEqualTo(apart);
  }
}
