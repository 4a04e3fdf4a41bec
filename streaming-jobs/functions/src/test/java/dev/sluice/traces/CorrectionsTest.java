package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.failed;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Requests;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.windows.Partial;
import dev.sluice.windows.Partials;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Spread;
import dev.sluice.windows.WindowAccumulator;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class CorrectionsTest {
  private static final int SERVER = dev.sluice.otlp.Span.SERVER;
  private static final int CLIENT = dev.sluice.otlp.Span.CLIENT;
  private static final int PRODUCER = dev.sluice.otlp.Span.PRODUCER;
  private static final int CONSUMER = dev.sluice.otlp.Span.CONSUMER;
  private static final int MANY = 10_000;

  /** Sums of the rows of one point and bucket. */
  private static final class Sum {
    long busyNs;
    long completions;
    long errors;
    final Map<Short, Integer> latency = new TreeMap<>();

    void add(Partial partial) {
      busyNs += partial.busyNs();
      completions += partial.completions();
      errors += partial.errors();
      partial
          .latency()
          .toMap()
          .forEach(
              (index, count) ->
                  latency.merge(
                      index, count, (a, b) -> a + b == 0 ? null : Integer.valueOf(a + b)));
    }

    boolean isEmpty() {
      return busyNs == 0 && completions == 0 && errors == 0 && latency.isEmpty();
    }

    @Override
    public String toString() {
      return busyNs / (double) MS + " ms " + completions + "/" + errors + " " + latency.values();
    }
  }

  private static final class Sums extends TreeMap<String, Sum> implements Partials.Visitor {
    private static final long serialVersionUID = 1L;

    @Override
    public void visit(ResourcePoint point, Partial partial) {
      String name =
          String.format(
              "%s@%s %s:%s %d",
              point.service(),
              point.instance(),
              point.side().label(),
              point.peer(),
              partial.bucketMs() - MIDNIGHT_MS);
      computeIfAbsent(name, key -> new Sum()).add(partial);
    }

    /** As text, without rows that hold nothing. */
    Map<String, String> rows() {
      Map<String, String> rows = new TreeMap<>();
      forEach(
          (name, sum) -> {
            if (!sum.isEmpty()) {
              rows.put(name, sum.toString());
            }
          });
      return rows;
    }
  }

  private final Spread spread = new Spread(100, 1_000);

  // What was known when the spans were read.
  private final Callees known = new Callees();

  private static void teach(Callees callees, String service, String address, String callee) {
    for (int i = 0; i < 200; i++) {
      callees.add(service, address, callee);
    }
  }

  private static void read(byte[] message, SpanStage stage, Callees callees) throws Exception {
    new TraceRequestDecoder()
        .decode(
            message,
            span -> {
              callees.apply(span);
              stage.accept(span);
            });
  }

  private void count(Sums sums, byte[] message) throws Exception {
    count(sums, message, known);
  }

  private void count(Sums sums, byte[] message, Callees callees) throws Exception {
    WindowAccumulator windows = new WindowAccumulator(spread);
    read(message, windows, callees);
    windows.forEach(sums);
  }

  private void move(Sums sums, int maxSpans, byte[]... messages) throws Exception {
    List<TraceSpan> spans = new ArrayList<>();
    FragmentAccumulator accumulator = new FragmentAccumulator(1_000, spread).at(MIDNIGHT_MS);
    for (byte[] message : messages) {
      accumulator.clear();
      read(message, accumulator, known);
      accumulator.forEach((id, fragment) -> spans.addAll(fragment));
    }
    new Corrections(spread, new Callees()).of(Trace.assemble(spans, maxSpans), sums, span -> {});
  }

  private Map<String, String> moves(ResourceSpans... resources) throws Exception {
    Sums sums = new Sums();
    move(sums, MANY, message(resources));
    return sums.rows();
  }

  private static Span.Builder span(long id, long parent, int kind, double startMs, double endMs) {
    Span.Builder span = Requests.span(id, kind, startMs, endMs);
    return parent == 0 ? span : span.setParentSpanId(id(parent, 8));
  }

  private static Span.Builder to(String address, Span.Builder span) {
    return span.addAttributes(attribute("server.address", address));
  }

  @Test
  void spanMovesFromUnknownToTheServiceOfItsChild() throws Exception {
    assertThat(
            moves(
                service("cart", span(1, 0, CLIENT, 80, 130)),
                service("stock", span(2, 1, SERVER, 90, 120))))
        .isEqualTo(
            Map.of(
                "cart@i-0 client:unknown 0", "-20.0 ms 0/0 []",
                "cart@i-0 client:unknown 100", "-30.0 ms -1/0 [-1]",
                "cart@i-0 client:stock 0", "20.0 ms 0/0 []",
                "cart@i-0 client:stock 100", "30.0 ms 1/0 [1]"));
  }

  @Test
  void addressMovesToo() throws Exception {
    assertThat(
            moves(
                service("cart", failed(to("10.0.0.7", span(1, 0, PRODUCER, 0, 10)))),
                service("mail", span(2, 1, SERVER, 50, 60))))
        .isEqualTo(
            Map.of(
                "cart@i-0 client:10.0.0.7 0", "-10.0 ms -1/-1 [-1]",
                "cart@i-0 client:mail 0", "10.0 ms 1/1 [1]"));
  }

  @Test
  void underItsCalleeASpanNeedNotMove() throws Exception {
    teach(known, "cart", "10.0.0.7", "mail");
    Sums sums = new Sums();
    count(sums, message(service("cart", to("10.0.0.7", span(1, 0, CLIENT, 0, 10)))));
    assertThat(sums.rows()).isEqualTo(Map.of("cart@i-0 client:mail 0", "10.0 ms 1/0 [1]"));
    assertThat(
            moves(
                service("cart", to("10.0.0.7", span(1, 0, CLIENT, 0, 10))),
                service("mail", span(2, 1, SERVER, 1, 9))))
        .isEmpty();
  }

  @Test
  void fromACalleeThatTheTraceDoesNotShowASpanMoves() throws Exception {
    teach(known, "cart", "10.0.0.7", "mail");
    assertThat(
            moves(
                service("cart", to("10.0.0.7", span(1, 0, CLIENT, 0, 10))),
                service("stock", span(2, 1, SERVER, 1, 9))))
        .isEqualTo(
            Map.of(
                "cart@i-0 client:mail 0", "-10.0 ms -1/0 [-1]",
                "cart@i-0 client:stock 0", "10.0 ms 1/0 [1]"));
    assertThat(moves(service("cart", to("10.0.0.7", span(1, 0, CLIENT, 0, 10)))))
        .isEqualTo(
            Map.of(
                "cart@i-0 client:mail 0", "-10.0 ms -1/0 [-1]",
                "cart@i-0 client:10.0.0.7 0", "10.0 ms 1/0 [1]"));
  }

  @Test
  void theSenderOfAMessageDoesNotWaitForItsConsumer() throws Exception {
    assertThat(
            moves(
                service("cart", to("broker", span(1, 0, PRODUCER, 0, 10))),
                service("mail", span(2, 1, CONSUMER, 50, 8_060))))
        .isEmpty();
  }

  @Test
  void peersThatAreNamedOrNotSeenStay() throws Exception {
    assertThat(
            moves(
                service(
                    "cart",
                    span(1, 0, CLIENT, 0, 10).addAttributes(attribute("peer.service", "lb")),
                    to("db", span(2, 0, CLIENT, 0, 10)),
                    to("stock", span(3, 0, CLIENT, 0, 10)),
                    span(4, 0, CLIENT, 0, 10)),
                service(
                    "stock",
                    span(11, 1, SERVER, 1, 9),
                    span(13, 3, SERVER, 1, 9),
                    span(14, 4, CLIENT, 1, 9))))
        .isEmpty();
  }

  @Test
  void ofSeveralChildrenTheFirstNamesThePeer() throws Exception {
    // Started at the same time: id 3 before 4; and the earliest, without a SERVER span, does not
    // count.
    assertThat(
            moves(
                service("cart", span(1, 0, CLIENT, 0, 10)),
                service("late", span(2, 1, SERVER, 6, 9)),
                service("b", span(4, 1, SERVER, 5, 9)),
                service("a", span(3, 1, SERVER, 5, 9)),
                service("none", span(5, 1, CLIENT, 1, 2))))
        .containsOnlyKeys("cart@i-0 client:unknown 0", "cart@i-0 client:a 0");
  }

  @Test
  void aSpanThatCameTwiceIsMovedTwice() throws Exception {
    byte[] cart = message(service("cart", span(1, 0, CLIENT, 0, 10)));
    byte[] stock = message(service("stock", span(2, 1, SERVER, 1, 9)));
    Sums sums = new Sums();
    move(sums, MANY, cart, stock, cart);
    assertThat(sums.rows())
        .isEqualTo(
            Map.of(
                "cart@i-0 client:unknown 0", "-20.0 ms -2/0 [-2]",
                "cart@i-0 client:stock 0", "20.0 ms 2/0 [2]"));
  }

  @Test
  void spansThatTheTraceHasNoRoomForStay() throws Exception {
    Sums sums = new Sums();
    byte[] cart = message(service("cart", span(1, 0, CLIENT, 0, 10), span(9, 0, SERVER, 0, 10)));
    byte[] stock = message(service("stock", span(2, 1, SERVER, 1, 9)));
    move(sums, 2, cart, stock);
    assertThat(sums.rows()).isEmpty();
  }

  /**
   * Random traces: clients with and without names and addresses, servers below them, spans of every
   * length, some of them sent twice. Counted provisionally, under callees that may be others, and
   * then moved, they give the windows of the same spans whose peers were named.
   */
  @Property(tries = 300)
  void movesMakeTheWindowsThoseOfTheTruePeers(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    for (int i = random.nextInt(8); i > 0; i--) {
      String address = random.nextBoolean() ? "" : "svc" + random.nextInt(5);
      teach(known, "svc" + random.nextInt(3), address, "svc" + random.nextInt(4));
    }
    List<byte[]> messages = new ArrayList<>();
    Sums truth = new Sums();
    int calls = 1 + random.nextInt(20);
    for (int i = 0; i < calls; i++) {
      String caller = "svc" + random.nextInt(3);
      String callee = random.nextInt(4) == 0 ? null : "svc" + random.nextInt(4);
      double start = random.nextInt(3_000) / 10.0;
      double end = start + random.nextInt(random.nextBoolean() ? 300 : 20_000) / 10.0;
      Span.Builder client =
          span(2L * i + 1, 0, random.nextBoolean() ? CLIENT : PRODUCER, start, end);
      Span.Builder named = client.clone();
      if (random.nextInt(5) == 0) {
        failed(client);
        failed(named);
      }
      String stated =
          switch (random.nextInt(4)) {
            case 0 -> "peer.service";
            case 1 -> "server.address";
            default -> "";
          };
      String peer = "svc" + random.nextInt(5);
      if (!stated.isEmpty()) {
        client.addAttributes(attribute(stated, peer));
      }
      boolean known = callee != null && !stated.equals("peer.service");
      if (known || !stated.isEmpty()) {
        named.addAttributes(attribute("peer.service", known ? callee : peer));
      }
      int times = random.nextInt(6) == 0 ? 2 : 1;
      for (int n = 0; n < times; n++) {
        messages.add(message(service(caller, client)));
        count(truth, message(service(caller, named)), new Callees());
      }
      if (callee != null) {
        byte[] server =
            message(service(callee, span(2L * i + 2, 2L * i + 1, SERVER, start + 1, end)));
        messages.add(server);
        count(truth, server, new Callees());
      }
    }
    Collections.shuffle(messages, random);
    Sums moved = new Sums();
    move(moved, MANY, messages.toArray(byte[][]::new));
    for (byte[] message : messages) {
      count(moved, message);
    }
    assertThat(moved.rows()).isEqualTo(truth.rows());
  }
}
