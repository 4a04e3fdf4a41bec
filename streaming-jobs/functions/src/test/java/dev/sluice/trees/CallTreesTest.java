package dev.sluice.trees;

import static dev.sluice.otlp.Span.CLIENT;
import static dev.sluice.otlp.Span.CONSUMER;
import static dev.sluice.otlp.Span.INTERNAL;
import static dev.sluice.otlp.Span.PRODUCER;
import static dev.sluice.otlp.Span.SERVER;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CallTreesTest {
  /** {@code {"service":"a","operation":"op1"}}, or with stages. */
  private static String node(String service, String operation, String... stages) {
    String text = "{\"service\":\"" + service + "\"";
    text += operation.isEmpty() ? "" : ",\"operation\":\"" + operation + "\"";
    return text
        + (stages.length == 0 ? "" : ",\"stages\":[" + String.join(",", stages) + "]")
        + "}";
  }

  private static String stage(String... nodes) {
    return "[" + String.join(",", nodes) + "]";
  }

  @Test
  void callsThatOverlapAreOneStageAndCallsThatTouchAreTwo() {
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, CLIENT, 10, 40)
                .add(3, 1, CLIENT, 20, 30)
                .add(4, 1, CLIENT, 40, 50)
                .of("price")
                .add(13, 3, SERVER, 22, 28)
                .of("mail")
                .add(14, 4, SERVER, 42, 48)
                .of("cart")
                .add(12, 2, SERVER, 12, 38)
                .tree())
        .isEqualTo(
            node(
                "front",
                "op1",
                stage(node("cart", "op12"), node("price", "op13")),
                stage(node("mail", "op14"))));
  }

  @Test
  void overlapReachesThroughOthers() {
    // a [0, 10) and c [15, 30) share no time, b [5, 20) joins them; d [30, 40) is alone.
    Spans spans = Spans.trace().of("front").add(1, 0, SERVER, 0, 100);
    double[][] times = {{15, 30}, {5, 20}, {0, 10}, {30, 40}};
    String[] names = {"c", "b", "a", "d"};
    for (int i = 0; i < names.length; i++) {
      spans.of("front").add(10 + i, 1, CLIENT, times[i][0], times[i][1], "call", names[i]);
    }
    assertThat(spans.tree())
        .isEqualTo(
            node(
                "front",
                "op1",
                stage(node("a", ""), node("b", ""), node("c", "")),
                stage(node("d", ""))));
  }

  /** Calls a and b of a root, in ms. */
  private static String stages(double aStart, double aEnd, double bStart, double bEnd) {
    return Spans.trace()
        .of("front")
        .add(1, 0, SERVER, 0, 900)
        .add(2, 1, CLIENT, aStart, aEnd, "call", "a")
        .add(3, 1, CLIENT, bStart, bEnd, "call", "b")
        .tree();
  }

  @Test
  void callsThatOverlapByOnePercentOfTheShorterAndOneMillisecondAreSerial() {
    String serial = node("front", "op1", stage(node("a", "")), stage(node("b", "")));
    String parallel = node("front", "op1", stage(node("a", ""), node("b", "")));
    assertThat(stages(0, 50.001, 50, 100)).isEqualTo(serial);
    assertThat(stages(0, 50.4, 50, 90)).isEqualTo(serial);
    assertThat(stages(0, 50.4, 50, 89)).isEqualTo(parallel);
    assertThat(stages(0, 401, 400, 800)).isEqualTo(serial);
    assertThat(stages(0, 401.1, 400, 800)).isEqualTo(parallel);
  }

  @Test
  void callFollowsAStageOnlyIfItFollowsEachCallOfIt() {
    // c overlaps a [0, 100) by 0.5 ms of its 100, and short, which ends before a, by 0.3 of 0.5.
    Spans spans =
        Spans.trace()
            .of("front")
            .add(1, 0, SERVER, 0, 900)
            .add(2, 1, CLIENT, 0, 100, "call", "a")
            .add(3, 1, CLIENT, 99.5, 200, "call", "c");
    assertThat(spans.tree())
        .isEqualTo(node("front", "op1", stage(node("a", "")), stage(node("c", ""))));
    spans.add(4, 1, CLIENT, 99.3, 99.8, "call", "short");
    assertThat(spans.tree())
        .isEqualTo(node("front", "op1", stage(node("a", ""), node("c", ""), node("short", ""))));
  }

  @Test
  void callsThatBeginAtOnceAreOneStageHoweverShort() {
    // a [0, 10), then at 10 b and c of no length, and d [10, 20): nothing tells which was first.
    for (String[] names : new String[][] {{"a", "b", "c", "d"}, {"d", "c", "b", "a"}}) {
      Spans spans = Spans.trace().of("front").add(1, 0, SERVER, 0, 100);
      for (int i = 0; i < names.length; i++) {
        double start = names[i].equals("a") ? 0 : 10;
        double end = names[i].equals("d") ? 20 : 10;
        spans.of("front").add(10 + i, 1, CLIENT, start, end, "call", names[i]);
      }
      assertThat(spans.tree())
          .isEqualTo(
              node(
                  "front",
                  "op1",
                  stage(node("a", "")),
                  stage(node("b", ""), node("c", ""), node("d", ""))));
    }
  }

  @Test
  void theCallersClockDecidesWhereThereIsClientSpan() {
    // By the callees' clocks, of which one is 50 ms ahead, the calls would be one stage.
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, CLIENT, 0, 10)
                .add(3, 1, CLIENT, 50, 60)
                .of("a")
                .add(12, 2, SERVER, 51, 59)
                .of("b")
                .add(13, 3, SERVER, 51, 59)
                .tree())
        .isEqualTo(node("front", "op1", stage(node("a", "op12")), stage(node("b", "op13"))));
  }

  @Test
  void withoutClientSpanTheCalleesOwnTimeDecides() {
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .of("a")
                .add(2, 1, SERVER, 0, 10)
                .of("b")
                .add(3, 1, INTERNAL, 9, 20)
                .tree())
        .isEqualTo(node("front", "op1", stage(node("a", "op2"), node("b", "op3"))));
  }

  @Test
  void callsThroughInternalSpansBelongToTheEntry() {
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, INTERNAL, 0, 50)
                .add(3, 2, CLIENT, 1, 40, "SELECT", "db")
                .of("front")
                .add(4, 2, INTERNAL, 41, 45)
                .add(5, 4, CLIENT, 42, 44)
                .of("cart")
                .add(6, 5, SERVER, 42.5, 43.5)
                .add(7, 6, CLIENT, 42.6, 43, "GET", "cache")
                .tree())
        .isEqualTo(
            node(
                "front",
                "op1",
                stage(node("db", "")),
                stage(node("cart", "op6", stage(node("cache", ""))))));
  }

  @Test
  void peerThatShowsItselfIsOneNode() {
    // Also where a client library has a span of its own around the transport's.
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, CLIENT, 0, 50, "get", "cart")
                .add(3, 2, CLIENT, 1, 49, "HTTP GET", "cart:80")
                .of("cart")
                .add(4, 3, SERVER, 2, 48)
                .tree())
        .isEqualTo(node("front", "op1", stage(node("cart", "op4"))));
  }

  @Test
  void innerOfTwoClientSpansNamesThePeer() {
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, CLIENT, 0, 50, "get", "cart")
                .add(3, 2, CLIENT, 1, 49, "HTTP GET", "cart:80")
                .add(4, 1, CLIENT, 60, 70)
                .tree())
        .isEqualTo(node("front", "op1", stage(node("cart:80", ""))));
  }

  @Test
  void serviceMayCallItself() {
    assertThat(
            Spans.trace()
                .of("a")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, CLIENT, 10, 20)
                .add(3, 2, SERVER, 11, 19)
                .add(4, 3, SERVER, 12, 18)
                .tree())
        .isEqualTo(node("a", "op1", stage(node("a", "op3"))));
  }

  @Test
  void anAsynchronousSpanIsLeftOutWithAllBelowIt() {
    assertThat(
            Spans.trace()
                .of("front")
                .add(1, 0, SERVER, 0, 100)
                .add(2, 1, PRODUCER, 10, 11, "send", "queue")
                .add(3, 1, CLIENT, 20, 30, "publish", "queue")
                .of("worker")
                .add(4, 2, CONSUMER, 12, 90)
                .add(5, 4, CLIENT, 13, 80, "SELECT", "db")
                .add(6, 3, CONSUMER, 21, 22)
                .linked(7, CONSUMER, 50, 60)
                .tree())
        .isEqualTo(node("front", "op1"));
  }

  @Test
  void consumerMayBeTheRoot() {
    assertThat(
            Spans.trace()
                .of("worker")
                .add(1, 0, CONSUMER, 0, 10)
                .add(2, 1, CLIENT, 1, 2, "SELECT", "db")
                .tree())
        .isEqualTo(node("worker", "op1", stage(node("db", ""))));
  }

  @Test
  void eachRootHasTreeAndOrphansAndRingsHaveNone() {
    assertThat(
            Spans.trace()
                .of("a")
                .add(1, 0, SERVER, 0, 10)
                .add(2, 99, SERVER, 0, 10)
                .add(3, 3, SERVER, 0, 10)
                .add(4, 5, SERVER, 0, 10)
                .of("b")
                .add(5, 4, SERVER, 0, 10)
                .add(6, 0, INTERNAL, 0, 10)
                .trees())
        .containsExactly(node("a", "op1"), node("b", "op6"));
  }

  /** front calls b, and a twice, at once; the a that starts first, or the other, calls db. */
  private static String parallel(long callsDatabase) {
    return Spans.trace()
        .of("front")
        .add(1, 0, SERVER, 0, 100)
        .of("b")
        .add(2, 1, SERVER, 0, 20, "read", "")
        .of("a")
        .add(3, 1, SERVER, 5, 20, "read", "")
        .add(4, 1, SERVER, 6, 20, "read", "")
        .add(5, callsDatabase, CLIENT, 7, 8, "SELECT", "db")
        .tree();
  }

  @Test
  void orderWithinStageIsThatOfNamesThenOfWhatIsBelow() {
    String leaf = node("a", "read");
    String calling = node("a", "read", stage(node("db", "")));
    String b = node("b", "read");
    assertThat(parallel(3))
        .isEqualTo(parallel(4))
        .isIn(
            node("front", "op1", stage(leaf, calling, b)),
            node("front", "op1", stage(calling, leaf, b)));
  }

  @Test
  void namesAreEscaped() {
    assertThat(Spans.trace().of("a\"b\\").add(1, 0, SERVER, 0, 1, "line\nbreak", "").tree())
        .isEqualTo("{\"service\":\"a\\\"b\\\\\",\"operation\":\"line\\u000abreak\"}");
  }

  @Test
  void wideTreeKeepsItsFirstNodesAndIsMarked() {
    Spans spans = Spans.trace().of("f").add(1, 0, SERVER, 0, 10_000, "o", "");
    for (int i = 0; i < 600; i++) {
      spans.add(10 + i, 1, CLIENT, i, i + 1, "SELECT", i < 550 ? "d" : "late");
    }
    // {"service":"d"} in a stage of its own takes 18 characters, so that 499 calls fit.
    assertThat(spans.tree())
        .isEqualTo(
            "{\"service\":\"f\",\"operation\":\"o\",\"cut\":true,\"stages\":["
                + ("[{\"service\":\"d\"}],".repeat(TreeText.MAX_NODES - 2))
                + "[{\"service\":\"d\"}]]}");
  }

  @Test
  void deepTreeIsCutByItsLengthAndRecursesNowhereTooDeep() {
    Spans spans = Spans.trace().of("s0").add(1, 0, SERVER, 0, 10_000);
    for (int i = 1; i < 5_000; i++) {
      spans.of("s" + i).add(i + 1, i, SERVER, 0, 10_000);
    }
    String tree = spans.tree();
    assertThat(tree.length()).isBetween(TreeText.MAX_CHARS - 500, TreeText.MAX_CHARS);
    assertThat(tree)
        .startsWith("{\"service\":\"s0\",\"operation\":\"op1\",\"cut\":true,\"stages\":[[{")
        .endsWith("}]]}");
  }
}
