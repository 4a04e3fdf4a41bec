package dev.sluice.traces;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Requests;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.rules.SpanRules;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Spread;
import dev.sluice.windows.WindowAccumulator;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * A thread or connection counts once, however many spans tell of it: read as the job does, a
 * message after the other, then corrected by the whole trace.
 */
class NestedSpansTest {
  private static final int INTERNAL = dev.sluice.otlp.Span.INTERNAL;
  private static final int SERVER = dev.sluice.otlp.Span.SERVER;
  private static final int CLIENT = dev.sluice.otlp.Span.CLIENT;
  private static final int PRODUCER = dev.sluice.otlp.Span.PRODUCER;
  private static final int CONSUMER = dev.sluice.otlp.Span.CONSUMER;
  private static final Spread SPREAD = new Spread(100, 1_000);
  private static final int MANY = 10_000;

  /** A span with its service and instance; times in ms after midnight. */
  private record OwnedSpan(String service, String instance, Span.Builder span) {}

  private static OwnedSpan owned(
      String at, long id, long parent, int kind, double start, double end, KeyValue... attributes) {
    String[] names = at.split("@", -1);
    Span.Builder span = Requests.span(id, kind, start, end).addAllAttributes(List.of(attributes));
    if (parent != 0) {
      span.setParentSpanId(id(parent, 8));
    }
    return new OwnedSpan(names[0], names.length > 1 ? names[1] : "i-0", span);
  }

  private static KeyValue to(String peer) {
    return attribute("peer.service", peer);
  }

  private static KeyValue address(String address) {
    return attribute("server.address", address);
  }

  private static byte[] encode(List<OwnedSpan> spans) {
    return message(
        spans.stream()
            .map(
                span ->
                    resource(
                        List.of(
                            attribute("service.name", span.service),
                            attribute("service.instance.id", span.instance)),
                        span.span))
            .toArray(io.opentelemetry.proto.trace.v1.ResourceSpans[]::new));
  }

  /** Sums of rows, and of which points they are. */
  private static final class Windows {
    private final String lines;
    private final Map<String, long[]> sums = new TreeMap<>();
    private final List<TraceSpan> trace = new ArrayList<>();
    private int takenBack;

    Windows(String lines) {
      this.lines = lines;
    }

    private void add(ResourcePoint point, Partial partial) {
      assertThat(partial.contributions()).isPositive();
      String name =
          (point.service()
                  + "@"
                  + point.instance()
                  + " "
                  + point.side().label()
                  + " "
                  + point.peer())
              .trim();
      long[] sum = sums.computeIfAbsent(name, absent -> new long[3]);
      sum[0] += partial.busyNs();
      sum[1] += partial.completions();
      sum[2] += partial.latency().total();
    }

    /** As the stage that reads messages does. */
    void read(byte[] message) throws Exception {
      SpanRules rules = SpanRules.parse(lines);
      WindowAccumulator windows = new WindowAccumulator(SPREAD);
      FragmentAccumulator fragments = new FragmentAccumulator(1_000, SPREAD).at(MIDNIGHT_MS);
      new TraceRequestDecoder(rules.patterns())
          .decode(
              message,
              span -> {
                rules.apply(span);
                windows.accept(span);
                fragments.accept(span);
              });
      fragments.takeNested(
          span -> {
            takenBack++;
            windows.undo(span.point(), span.startNs(), span.endNs(), span.error());
          });
      windows.forEach(this::add);
      fragments.forEach((id, spans) -> trace.addAll(spans));
    }

    /** As the stage that closes traces does. */
    void close() {
      new Corrections(SPREAD, new Callees())
          .of(Trace.assemble(trace, MANY), this::add, span -> takenBack++);
    }

    /** "completions x busy ms" of each point that is not empty. */
    Map<String, String> rows() {
      Map<String, String> rows = new TreeMap<>();
      sums.forEach(
          (name, sum) -> {
            assertThat(sum[2]).isEqualTo(sum[1]);
            if (sum[0] != 0 || sum[1] != 0) {
              rows.put(name, sum[1] + " x " + (double) sum[0] / MS);
            }
          });
      return rows;
    }
  }

  private static Windows windows(String lines, List<List<OwnedSpan>> messages) throws Exception {
    Windows windows = new Windows(lines);
    for (List<OwnedSpan> message : messages) {
      windows.read(encode(message));
    }
    windows.close();
    return windows;
  }

  /** The windows of spans, and the same in one message, in one each, and the other way round. */
  private static Map<String, String> rows(String lines, OwnedSpan... spans) throws Exception {
    List<OwnedSpan> all = List.of(spans);
    Windows together = new Windows(lines);
    together.read(encode(all));
    Map<String, String> atOnce = together.rows();
    together.close();
    List<List<OwnedSpan>> apart = new ArrayList<>();
    all.forEach(span -> apart.add(List.of(span)));
    assertThat(windows(lines, apart).rows()).isEqualTo(together.rows());
    Collections.reverse(apart);
    Windows reversed = windows(lines, apart);
    assertThat(reversed.rows()).isEqualTo(together.rows());
    assertThat(reversed.takenBack).isEqualTo(together.takenBack);
    // All that needs no peer is right before the trace is closed.
    if (Arrays.stream(spans).noneMatch(span -> span.span.getKindValue() == CLIENT)) {
      assertThat(atOnce).isEqualTo(together.rows());
    }
    return together.rows();
  }

  private static Map<String, String> rows(OwnedSpan... spans) throws Exception {
    return rows("", spans);
  }

  @Test
  void fastifyRequestWithinTheHttpServersSpan() throws Exception {
    assertThat(rows(owned("shop", 1, 0, SERVER, 0, 100), owned("shop", 2, 1, SERVER, 0.2, 99.9)))
        .isEqualTo(Map.of("shop@i-0 server", "1 x 100.0"));
  }

  @Test
  void internalSpansBetweenThemMakeNoDifference() throws Exception {
    assertThat(
            rows(
                owned("shop", 1, 0, SERVER, 0, 100),
                owned("shop", 2, 1, INTERNAL, 1, 99),
                owned("shop", 3, 2, INTERNAL, 1, 98),
                owned("shop", 4, 3, SERVER, 1, 97),
                owned("shop", 5, 4, SERVER, 1, 96)))
        .isEqualTo(Map.of("shop@i-0 server", "1 x 100.0"));
  }

  @Test
  void anAsyncHandlerThatOutlivesWhatDispatchedIt() throws Exception {
    // A servlet's span of 2 ms, and below it the handler's, which ends later: one request.
    assertThat(rows(owned("shop", 1, 0, SERVER, 0, 2), owned("shop", 2, 1, SERVER, 1, 100)))
        .isEqualTo(Map.of("shop@i-0 server", "1 x 2.0"));
  }

  @Test
  void envoyAroundAnApplicationOfTheSameInstance() throws Exception {
    // Envoy's SERVER and CLIENT spans of cart, the application's SERVER span, its call of stock.
    assertThat(
            rows(
                owned("cart", 1, 0, SERVER, 0, 60),
                owned("cart", 2, 1, CLIENT, 2, 58, to("cart")),
                owned("cart", 3, 2, SERVER, 4, 56),
                owned("cart", 4, 3, CLIENT, 10, 50, to("stock"))))
        .isEqualTo(
            Map.of(
                "cart@i-0 server", "1 x 60.0",
                "cart@i-0 client cart", "1 x 56.0",
                "cart@i-0 client stock", "1 x 40.0"));
  }

  @Test
  void aSidecarWithoutAnInstanceGivesWayToTheApplication() throws Exception {
    assertThat(
            rows(
                owned("cart@", 1, 0, SERVER, 0, 60),
                owned("cart@", 2, 1, CLIENT, 2, 58, to("cart")),
                owned("cart@pod-1", 3, 2, SERVER, 4, 56)))
        .isEqualTo(Map.of("cart@pod-1 server", "1 x 52.0", "cart@ client cart", "1 x 56.0"));
  }

  @Test
  void anApplicationWithoutAnInstanceIsNestedInItsSidecar() throws Exception {
    assertThat(rows(owned("cart@pod-1", 1, 0, SERVER, 0, 60), owned("cart@", 2, 1, SERVER, 4, 56)))
        .isEqualTo(Map.of("cart@pod-1 server", "1 x 60.0"));
    assertThat(rows(owned("cart@", 1, 0, SERVER, 0, 60), owned("cart@", 2, 1, SERVER, 4, 56)))
        .isEqualTo(Map.of("cart@ server", "1 x 60.0"));
  }

  @Test
  void aReplicaThatCallsAnotherHoldsAThreadOfEach() throws Exception {
    assertThat(
            rows(
                owned("cart@a", 1, 0, SERVER, 0, 60),
                owned("cart@a", 2, 1, CLIENT, 2, 58, to("cart")),
                owned("cart@b", 3, 2, SERVER, 4, 56)))
        .isEqualTo(
            Map.of(
                "cart@a server", "1 x 60.0",
                "cart@a client cart", "1 x 56.0",
                "cart@b server", "1 x 52.0"));
  }

  @Test
  void aCallBackByWayOfAnotherServiceTakesAnotherThread() throws Exception {
    assertThat(
            rows(
                owned("cart", 1, 0, SERVER, 0, 60),
                owned("cart", 2, 1, CLIENT, 2, 58, to("stock")),
                owned("stock", 3, 2, SERVER, 4, 56),
                owned("stock", 4, 3, CLIENT, 6, 54, to("cart")),
                owned("cart", 5, 4, SERVER, 8, 52)))
        .containsEntry("cart@i-0 server", "2 x 104.0")
        .containsEntry("stock@i-0 server", "1 x 52.0");
  }

  @Test
  void messagesHandOverToAnotherThread() throws Exception {
    assertThat(
            rows(
                owned("shop", 1, 0, SERVER, 0, 10),
                owned("shop", 2, 1, PRODUCER, 2, 3, to("queue")),
                owned("shop", 3, 2, SERVER, 20, 50),
                owned("shop", 4, 1, SERVER, 5, 6)))
        .containsEntry("shop@i-0 server", "2 x 40.0");
  }

  @Test
  void connectionsTowardsOnePeerCountOnceWithinEachOther() throws Exception {
    // pg.query within pg.query, and the client of a driver within that of a mapper: by name or
    // address, and by way of an INTERNAL span.
    assertThat(
            rows(
                owned("shop", 1, 0, SERVER, 0, 100),
                owned("shop", 2, 1, CLIENT, 10, 50, to("db")),
                owned("shop", 3, 2, INTERNAL, 11, 49),
                owned("shop", 4, 3, CLIENT, 12, 48, to("db")),
                owned("shop", 5, 1, CLIENT, 60, 90, address("10.0.0.7")),
                owned("shop", 6, 5, CLIENT, 61, 89, address("10.0.0.7"))))
        .isEqualTo(
            Map.of(
                "shop@i-0 server", "1 x 100.0",
                "shop@i-0 client db", "1 x 40.0",
                "shop@i-0 client 10.0.0.7", "1 x 30.0"));
  }

  @Test
  void callsSideBySideOrTowardsOthersAllCount() throws Exception {
    // Multiplexed over one connection: they are the use that is made of it.
    assertThat(
            rows(
                owned("shop", 1, 0, SERVER, 0, 100),
                owned("shop", 2, 1, CLIENT, 10, 50, to("db")),
                owned("shop", 3, 1, CLIENT, 10, 50, to("db")),
                owned("shop", 4, 2, CLIENT, 20, 30, to("cache")),
                owned("shop", 5, 1, CLIENT, 10, 20),
                owned("shop", 6, 5, CLIENT, 10, 20)))
        .isEqualTo(
            Map.of(
                "shop@i-0 server", "1 x 100.0",
                "shop@i-0 client db", "2 x 80.0",
                "shop@i-0 client cache", "1 x 10.0",
                "shop@i-0 client unknown", "2 x 20.0"));
  }

  @Test
  void aPeerThatOnlyTheInnerCallShowsIsThatOfTheOuter() throws Exception {
    // A gRPC client around an HTTP client to one address; stock's SERVER span is below the inner.
    assertThat(
            rows(
                owned("cart", 1, 0, CLIENT, 0, 50, address("10.0.0.7")),
                owned("cart", 2, 1, CLIENT, 5, 45, address("10.0.0.7")),
                owned("stock", 3, 2, SERVER, 10, 40)))
        .isEqualTo(Map.of("cart@i-0 client stock", "1 x 50.0", "stock@i-0 server", "1 x 30.0"));
  }

  @Test
  void aCallOfASecondRequestIsNotNestedInThatOfTheFirst() throws Exception {
    assertThat(
            rows(
                owned("cart", 1, 0, CLIENT, 0, 50, to("cart")),
                owned("cart", 2, 1, SERVER, 5, 45),
                owned("cart", 3, 2, CLIENT, 10, 40, to("cart"))))
        .containsEntry("cart@i-0 client cart", "2 x 80.0");
  }

  @Test
  void consumersAreNotNested() throws Exception {
    assertThat(
            rows(
                owned("shop", 1, 0, CONSUMER, 0, 100),
                owned("shop", 2, 1, CONSUMER, 10, 20),
                owned("shop", 3, 2, SERVER, 12, 18)))
        .isEqualTo(Map.of("shop@i-0 consumer", "2 x 110.0", "shop@i-0 server", "1 x 6.0"));
  }

  private static final String RULES =
      """
      rule\tprobe\tleave_out
      values\twhole\turl.path\t/healthz
      rule\tacquire\twaiting
      name\tpg-pool.connect
      rule\tenvoy\taround
      values\twhole\tcomponent\tproxy
      rule\tistio\tsidecar
      values\twhole\tcomponent\tistio
      """;

  @Test
  void aSpanWithinAProbeIsNoLoadEither() throws Exception {
    assertThat(
            rows(
                RULES,
                owned("shop", 1, 0, SERVER, 0, 10, attribute("url.path", "/healthz")),
                owned("shop", 2, 1, SERVER, 1, 9),
                owned("shop", 3, 2, CLIENT, 2, 8, to("db"))))
        .isEqualTo(Map.of("shop@i-0 client db", "1 x 6.0"));
  }

  @Test
  void waitingForAConnectionIsNoUseOfItAndWhatIsBelowIs() throws Exception {
    OwnedSpan acquire = owned("shop", 2, 1, CLIENT, 2, 50, to("db"));
    acquire.span.setName("pg-pool.connect");
    assertThat(
            rows(
                RULES,
                owned("shop", 1, 0, SERVER, 0, 100),
                acquire,
                owned("shop", 3, 2, CLIENT, 40, 50, to("db")),
                owned("shop", 4, 1, CLIENT, 50, 90, to("db"))))
        .isEqualTo(Map.of("shop@i-0 server", "1 x 100.0", "shop@i-0 client db", "2 x 50.0"));
  }

  @Test
  void aSidecarOfAnotherInstanceIsAroundByRule() throws Exception {
    assertThat(
            rows(
                RULES,
                owned("cart@envoy", 1, 0, SERVER, 0, 60, attribute("component", "proxy")),
                owned("cart@pod-1", 2, 1, SERVER, 4, 56)))
        .isEqualTo(Map.of("cart@pod-1 server", "1 x 52.0"));
  }

  @Test
  void aSidecarGivesWayToItsApplicationWhateverInstanceItNames() throws Exception {
    KeyValue sidecar = attribute("component", "istio");
    for (String instance : List.of("envoy", "pod-1", "")) {
      assertThat(
              rows(
                  RULES,
                  owned("cart@" + instance, 1, 0, SERVER, 0, 60, sidecar),
                  owned("cart@" + instance, 2, 1, INTERNAL, 2, 58),
                  owned("cart@pod-1", 3, 2, SERVER, 4, 56),
                  owned("cart@pod-1", 4, 3, SERVER, 5, 55)))
          .isEqualTo(Map.of("cart@pod-1 server", "1 x 52.0"));
    }
  }

  @Test
  void aCallThatASidecarPassesOnIsTheApplications() throws Exception {
    KeyValue sidecar = attribute("component", "istio");
    for (String instance : List.of("envoy", "pod-1", "")) {
      assertThat(
              rows(
                  RULES,
                  owned("cart@pod-1", 1, 0, CLIENT, 0, 60, address("stock:9080")),
                  owned("cart@" + instance, 2, 1, CLIENT, 2, 58, sidecar, address("cluster")),
                  owned("stock@pod-2", 3, 2, SERVER, 4, 56)))
          .isEqualTo(
              Map.of("cart@pod-1 client stock", "1 x 60.0", "stock@pod-2 server", "1 x 52.0"));
    }
  }

  @Test
  void sidecarsWithoutSpansOfTheirApplicationsCount() throws Exception {
    KeyValue sidecar = attribute("component", "istio");
    assertThat(
            rows(
                RULES,
                owned("cart@pod-1", 1, 0, SERVER, 0, 60, sidecar),
                owned("cart@pod-1", 2, 1, CLIENT, 2, 58, sidecar, to("cart")),
                owned("cart@pod-2", 3, 2, SERVER, 4, 56, sidecar),
                owned("cart@pod-2", 4, 3, SERVER, 5, 55, sidecar)))
        .isEqualTo(
            Map.of(
                "cart@pod-1 server", "1 x 60.0",
                "cart@pod-1 client cart", "1 x 56.0",
                "cart@pod-2 server", "1 x 52.0"));
  }

  @Test
  void ringsHaveNothingAbove() throws Exception {
    assertThat(
            windows(
                    "",
                    List.of(
                        List.of(
                            owned("shop", 1, 2, SERVER, 0, 10),
                            owned("shop", 2, 1, SERVER, 0, 10),
                            owned("shop", 3, 3, SERVER, 0, 10),
                            owned("shop", 4, 1, SERVER, 0, 10))))
                .rows())
        .isEqualTo(Map.of("shop@i-0 server", "3 x 30.0"));
  }

  @Test
  void aSpanThatCameTwiceIsTakenBackTwice() throws Exception {
    OwnedSpan outer = owned("shop", 1, 0, SERVER, 0, 100);
    OwnedSpan inner = owned("shop", 2, 1, SERVER, 10, 90);
    Windows windows = windows("", List.of(List.of(inner), List.of(outer), List.of(inner)));
    assertThat(windows.rows()).isEqualTo(Map.of("shop@i-0 server", "1 x 100.0"));
    assertThat(windows.takenBack).isEqualTo(2);
  }

  @Test
  void aChainOfTenThousandIsNoTrouble() throws Exception {
    List<OwnedSpan> chain = new ArrayList<>();
    for (int i = 1; i <= 9_000; i++) {
      chain.add(
          i % 2 == 0
              ? owned("shop", i, i - 1, CLIENT, 0, 10, to("p" + i % 8))
              : owned("shop", i, i - 1, INTERNAL, 0, 10));
    }
    // Of each of four peers the outermost counts.
    assertThat(windows("", List.of(chain)).rows())
        .isEqualTo(
            Map.of(
                "shop@i-0 client p0", "1 x 10.0",
                "shop@i-0 client p2", "1 x 10.0",
                "shop@i-0 client p4", "1 x 10.0",
                "shop@i-0 client p6", "1 x 10.0"));
  }

  /**
   * Random trees of two services, with instances or without: however their spans are spread over
   * messages, and in whatever order these come, the sums are the same; and at least one SERVER span
   * of each service that has any counts.
   */
  @Property(tries = 500)
  void theSumsAreThoseOfTheTraceWhateverTheMessages(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    int[] kinds = {SERVER, SERVER, SERVER, CLIENT, CLIENT, CLIENT, INTERNAL, PRODUCER, CONSUMER};
    List<OwnedSpan> spans = new ArrayList<>();
    int count = 1 + random.nextInt(20);
    for (int i = 1; i <= count; i++) {
      int parent = i == 1 ? 0 : 1 + random.nextInt(i - 1);
      boolean stay = parent > 0 && random.nextInt(4) > 0;
      String service = stay ? spans.get(parent - 1).service : "svc" + random.nextInt(2);
      String instance = new String[] {"", "a", "a", "b"}[random.nextInt(4)];
      int kind = kinds[random.nextInt(kinds.length)];
      int start = random.nextInt(500);
      KeyValue[] attributes = {};
      if (kind == CLIENT && random.nextInt(3) > 0) {
        String peer = "p" + random.nextInt(2);
        attributes = new KeyValue[] {random.nextBoolean() ? to(peer) : address(peer)};
      }
      if (random.nextInt(8) == 0) {
        attributes = new KeyValue[] {attribute("url.path", "/healthz")};
      } else if (random.nextInt(8) == 0) {
        attributes = new KeyValue[] {attribute("component", "proxy")};
      } else if (random.nextInt(4) == 0) {
        attributes = new KeyValue[] {attribute("component", "istio")};
      }
      String at = service + "@" + instance;
      spans.add(owned(at, i, parent, kind, start, start + random.nextInt(1_500), attributes));
    }
    Map<String, String> expected = windows(RULES, List.of(spans)).rows();
    for (int n = 0; n < 4; n++) {
      Map<Integer, List<OwnedSpan>> parts = new HashMap<>();
      int messages = 1 + random.nextInt(5);
      List<OwnedSpan> shuffled = new ArrayList<>(spans);
      Collections.shuffle(shuffled, random);
      for (OwnedSpan span : shuffled) {
        parts.computeIfAbsent(random.nextInt(messages), key -> new ArrayList<>()).add(span);
      }
      assertThat(windows(RULES, List.copyOf(parts.values())).rows()).isEqualTo(expected);
    }
  }
}
