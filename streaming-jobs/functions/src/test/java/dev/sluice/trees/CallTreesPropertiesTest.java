package dev.sluice.trees;

import static dev.sluice.otlp.Span.CLIENT;
import static dev.sluice.otlp.Span.CONSUMER;
import static dev.sluice.otlp.Span.SERVER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.bounds.Variants;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What holds for every trace. Times are small numbers, so that calls often touch and tie. */
class CallTreesPropertiesTest {
  private final TreeTexts texts = new TreeTexts();

  private static Spans random(long seed, double laterMs) {
    return random(seed, laterMs, 40);
  }

  private static Spans random(long seed, double laterMs, int most) {
    Random random = new Random(seed);
    int size = 1 + random.nextInt(most);
    boolean chain = random.nextInt(4) == 0;
    Spans spans = Spans.trace();
    for (int i = 0; i < size; i++) {
      long parent = i == 0 ? 0 : 1 + (chain ? i - 1 : random.nextInt(i));
      switch (random.nextInt(25)) {
        case 0 -> parent = 0;
        case 1 -> parent = 1_000; // an orphan
        case 2 -> parent = 1 + random.nextInt(size); // perhaps a ring
        default -> {}
      }
      double start = laterMs + random.nextInt(12);
      spans
          .of("s" + random.nextInt(3))
          .add(
              i + 1,
              parent,
              1 + random.nextInt(5),
              start,
              start + random.nextInt(6),
              "o" + random.nextInt(2),
              random.nextBoolean() ? "db" + random.nextInt(2) : "");
    }
    return spans;
  }

  @Property(tries = 500)
  void orderOfSpansDoesNotMatter(@ForAll long seed) {
    assertThat(random(seed, 0).shuffle(new Random(seed + 1)).trees())
        .isEqualTo(random(seed, 0).trees());
  }

  @Property(tries = 200)
  void timeOfDayDoesNotMatter(@ForAll long seed) {
    assertThat(random(seed, 12_345).trees()).isEqualTo(random(seed, 0).trees());
  }

  /**
   * Of few spans, so that most shapes come again, and of many, so that they push each other out.
   */
  @Property(tries = 50)
  void treesThatWereSeenBeforeHaveTheTextTheyHadWithoutThat(@ForAll long seed) {
    for (int most : List.of(3, 40)) {
      for (int i = 0; i < 20; i++) {
        Spans spans = random(seed + i, 0, most);
        assertThat(spans.trees(texts)).isEqualTo(spans.trees());
        assertThat(CallTrees.of(spans.assembled(), texts))
            .allMatch(tree -> tree.hash() == Variants.hash(tree.text()));
      }
    }
  }

  @Property(tries = 500)
  void everyEntryAndEveryUnseenPeerStandsOnce(@ForAll long seed) {
    Trace trace = random(seed, 0).assembled();
    List<String> expected = new ArrayList<>();
    for (int number = 0; number < trace.size(); number++) {
      TraceSpan span = trace.span(number);
      if (isWaitedFor(trace, number)) {
        if (isEntry(span, trace.parentOf(number))) {
          expected.add("\"service\":\"" + span.service() + "\",\"operation\":");
        }
        if (span.kind() == CLIENT && !span.peer().isEmpty() && !shows(trace, number)) {
          expected.add("\"service\":\"" + span.peer() + "\"}");
        }
      }
    }
    String texts = String.join("", random(seed, 0).trees());
    for (String node : expected) {
      int count = (texts.length() - texts.replace(node, "").length()) / node.length();
      assertThat(count).isEqualTo(expected.stream().filter(node::equals).count());
    }
    assertThat(texts.split("\"service\":", -1)).hasSize(expected.size() + 1);
  }

  private static boolean isEntry(TraceSpan span, TraceSpan parent) {
    return parent == null
        || !parent.service().equals(span.service())
        || (span.kind() == SERVER && parent.kind() == CLIENT);
  }

  /** Whether the way up ends in a root, without a CONSUMER span below it. */
  private static boolean isWaitedFor(Trace trace, int number) {
    int at = number;
    for (int steps = 0; trace.span(at).parentId() != 0; steps++) {
      if (trace.parent(at) == Trace.NONE
          || trace.span(at).kind() == CONSUMER
          || steps > trace.size()) {
        return false;
      }
      at = trace.parent(at);
    }
    return true;
  }

  /** Whether a call stands below the span in its own service. */
  private static boolean shows(Trace trace, int number) {
    for (int at = trace.firstChild(number); at < trace.endOfChildren(number); at++) {
      TraceSpan child = trace.span(trace.child(at));
      if (child.kind() == CONSUMER
          || isEntry(child, trace.span(number))
          || (child.kind() == CLIENT && !child.peer().isEmpty())
          || shows(trace, trace.child(at))) {
        return true;
      }
    }
    return false;
  }
}
